"""A small rover that is not Curiosity: seven Empty services, odometry, TF and a camera.

python examples/scout_rover.py
"""

from math import cos, sin

import cv2
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import Odometry
import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

PERIOD_S = 0.05
MOTIONS = {
    'go': (0.5, 0.0),
    'arc_left': (0.25, 0.1),
    'arc_right': (0.25, -0.1),
    'halt': (0.0, 0.0),
}


class Scout(Node):
    def __init__(self) -> None:
        super().__init__('scout')
        self.x = self.y = self.yaw = 0.0  # metres, radians
        self.speed = self.turn_rate = 0.0  # metres and radians per second
        for name, motion in MOTIONS.items():
            self.create_service(Trigger, f'/scout/{name}', self.motion_callback(*motion))
        self.create_subscription(Twist, '/scout/cmd_vel', self.on_twist, 10)
        self.odometry = self.create_publisher(Odometry, '/scout/odom', 10)
        self.tf = self.create_publisher(TFMessage, '/tf', 10)
        self.camera = self.create_publisher(CompressedImage, '/scout/image/compressed', 1)
        self.picture = cv2.imencode('.jpg', np.full((240, 320, 3), 128, np.uint8))[1].tobytes()
        self.create_timer(PERIOD_S, self.step)

    def motion_callback(self, speed: float, turn_rate: float):
        def callback(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            self.speed, self.turn_rate = speed, turn_rate
            response.success = True  # False, and a message, would refuse
            return response

        return callback

    def on_twist(self, twist: Twist) -> None:
        """The adapter publishes zero Twists when a stop is not answered."""
        self.speed, self.turn_rate = twist.linear.x, twist.angular.z

    def step(self) -> None:
        self.yaw += self.turn_rate * PERIOD_S
        self.x += self.speed * cos(self.yaw) * PERIOD_S
        self.y += self.speed * sin(self.yaw) * PERIOD_S
        stamp = self.get_clock().now().to_msg()

        odometry = Odometry()
        odometry.header.stamp, odometry.header.frame_id = stamp, 'map'
        odometry.child_frame_id = 'scout_base'
        odometry.pose.pose.position.x, odometry.pose.pose.position.y = self.x, self.y
        odometry.pose.pose.orientation.z = sin(self.yaw / 2.0)
        odometry.pose.pose.orientation.w = cos(self.yaw / 2.0)
        odometry.twist.twist.linear.x = self.speed
        odometry.twist.twist.angular.z = self.turn_rate
        self.odometry.publish(odometry)

        transform = TransformStamped()
        transform.header, transform.child_frame_id = odometry.header, 'scout_base'
        transform.transform.translation.x, transform.transform.translation.y = self.x, self.y
        transform.transform.rotation = odometry.pose.pose.orientation
        self.tf.publish(TFMessage(transforms=[transform]))

        image = CompressedImage(format='jpeg', data=self.picture)
        image.header.stamp, image.header.frame_id = stamp, 'scout_camera'
        self.camera.publish(image)


if __name__ == '__main__':
    rclpy.init()
    try:
        scout = Scout()
        print('Scout is up; Ctrl-C ends it.', flush=True)
        rclpy.spin(scout)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()
