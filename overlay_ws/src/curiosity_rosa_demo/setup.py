# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from glob import glob

from setuptools import find_packages, setup

PACKAGE = 'curiosity_rosa_demo'

setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(exclude=['test', 'test.*']),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/config', [*glob('config/*.yaml'), *glob('config/*.json')]),
        (f'share/{PACKAGE}/config/robots', glob('config/robots/*.yaml')),
        (f'share/{PACKAGE}/launch', glob('launch/*.launch.py')),
        (f'share/{PACKAGE}/schema', glob('schema/*.json')),
    ],
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    package_data={
        PACKAGE: [
            'agent/interfaces/page/web/*',
            'agent/interfaces/page/web/*/*',
            'agent/language/data/*.yaml',
            'agent/language/data/*/*.yaml',
            'agent/tasks/*.sql',
            'drawing/*.css',
            'monitor/*.yaml',
            'recording/templates/*.j2',
        ]
    },
    zip_safe=False,
    author='Curiosity ROSA maintainers',
    author_email='maintainers@curiosity-rosa.invalid',
    maintainer='Curiosity ROSA maintainers',
    maintainer_email='maintainers@curiosity-rosa.invalid',
    description='Agent, adapter, light simulator and visualizer for the Curiosity rover demo.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            f'agent_node = {PACKAGE}.agent.agent_node:main',
            f'console = {PACKAGE}.agent.interfaces.console_client.main:main',
            f'simulator_node = {PACKAGE}.sim.simulator_node:main',
            f'adapter_node = {PACKAGE}.adapter.adapter_node:main',
            f'visualizer_node = {PACKAGE}.viz.visualizer_node:main',
            f'monitor_node = {PACKAGE}.monitor.monitor_node:main',
            f'monitor = {PACKAGE}.monitor.__main__:main',
            f'replay = {PACKAGE}.recording.replay:main',
            f'spans = {PACKAGE}.infra.spans:main',
            f'mcp = {PACKAGE}.agent.interfaces.mcp.bridge:main',
        ],
    },
)
