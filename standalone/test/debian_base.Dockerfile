# Debian with ROS's wheels from PyPI where an installation of ROS has its files: a base for docker/Dockerfile that needs
# no other image. scripts/check_image.sh builds it; the build context is standalone.
ARG DEBIAN
# hadolint ignore=DL3006
FROM ${DEBIAN}

SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates cmake g++ make python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*

ENV ROS=/opt/ros/wheels PIP_CERT=/etc/ssl/certs/ca-certificates.crt
COPY requirements.txt requirements.in mend_wheels.py /tmp/standalone/
RUN python3 -m venv "$ROS" \
    && grep -E '^(ros-|colcon|numpy|setuptools)' /tmp/standalone/requirements.in >/tmp/standalone/ros.in \
    && "$ROS/bin/python" -m pip install --no-cache-dir --disable-pip-version-check \
        -c /tmp/standalone/requirements.txt -r /tmp/standalone/ros.in \
    && "$ROS/bin/python" /tmp/standalone/mend_wheels.py

# An installation of ROS has no Python of its own, and PYTHONPATH finds its packages. PYTHONPATH reads no .pth file, by
# which the wheels load their *.libs, so these stand beside the other libraries. docker/Dockerfile copies ros2, which no
# wheel has; --check does not call it.
COPY src/control_msgs /tmp/standalone/src/control_msgs
COPY src/tf2_msgs /tmp/standalone/src/tf2_msgs
RUN site=$("$ROS/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
    && printf 'export %s\n' ROS_VERSION=2 ROS_PYTHON_VERSION=3 ROS_DISTRO=jazzy "AMENT_PREFIX_PATH=$ROS" \
        "CMAKE_PREFIX_PATH=$ROS" "LD_LIBRARY_PATH=$ROS/lib" "PYTHONPATH=$site" "PATH=$ROS/bin:\$PATH" \
        >/tmp/standalone/setup.bash \
    && ln -sf "$site"/*.libs/* "$ROS/lib" \
    && . /tmp/standalone/setup.bash \
    && cd /tmp/standalone \
    && colcon build --merge-install --install-base "$ROS" --base-paths src \
        --cmake-args -DBUILD_TESTING=OFF "-DPython3_EXECUTABLE=$ROS/bin/python" \
    && cp setup.bash "$ROS" \
    && printf '#!/usr/bin/python3\nraise SystemExit("the wheels have no ros2")\n' >"$ROS/bin/ros2" \
    && chmod 755 "$ROS/bin/ros2" \
    && rm -r "$ROS"/bin/{python*,pip*,activate*,Activate*} "$site"/{pip,setuptools}* /tmp/standalone
