"""The overlay's nodes beside a Curiosity demo that runs already. The list of nodes is nodes.yaml.

The agent's console needs a terminal of its own, which ros2 launch does not give a node: leave
agent:=false and run "ros2 run curiosity_rosa_demo agent_node", or have it opened in an xterm.
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from launch import LaunchContext, LaunchDescription

ARGUMENTS = {
    'config_dir': (str(shipped_config_dir()), 'folder of the YAML contracts'),
    'namespace': ('', "moves the overlay's own names below this namespace; the rover's stay"),
    'use_sim_time': ('true', 'take the time from /clock, as the Gazebo demo does'),
    'use_rviz': ('false', 'open RViz with rviz.yaml'),
    'agent': ('false', 'open the console of the agent in an xterm'),
    'debug': ('false', 'log at debug level'),
}


def generate_launch_description() -> LaunchDescription:
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Node]:
    value = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    level = 'debug' if value['debug'].lower() in ('true', '1') else 'info'
    nodes = [
        Node(
            package=spec.package,
            executable=spec.executable,
            # No name: a process holds several nodes, and a global __node remap would rename all.
            namespace=value['namespace'],
            parameters=[
                {
                    'config_dir': value['config_dir'],
                    'use_sim_time': value['use_sim_time'].lower() in ('true', '1'),
                }
            ],
            ros_arguments=['--log-level', level],
            prefix='xterm -e' if spec.when == 'agent' else None,
            output='screen',
            respawn=spec.when != 'agent',
            respawn_delay=1.0,
            condition=IfCondition(value[spec.when]) if spec.when else None,
        )
        for spec in load_config(value['config_dir']).nodes.nodes
    ]
    rviz = Node(
        package='rviz2',
        executable='rviz2',
        arguments=['-d', f'{value["config_dir"]}/rviz.yaml'],
        parameters=[{'use_sim_time': value['use_sim_time'].lower() in ('true', '1')}],
        condition=IfCondition(value['use_rviz']),
    )
    return [*nodes, rviz]
