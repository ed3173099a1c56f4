# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from setuptools import find_packages, setup

PACKAGE = 'curiosity_stand_in'

setup(
    name=PACKAGE,
    version='0.1.0',
    packages=find_packages(exclude=['test', 'test.*']),
    package_data={PACKAGE: ['deck.png', 'parameters.yaml', 'rover.urdf']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    zip_safe=True,
    author='Curiosity ROSA maintainers',
    author_email='maintainers@curiosity-rosa.invalid',
    maintainer='Curiosity ROSA maintainers',
    maintainer_email='maintainers@curiosity-rosa.invalid',
    description='A stand-in for the Gazebo Curiosity rover.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            f'profile_node = {PACKAGE}.profile_node:main',
            f'stand_in_node = {PACKAGE}.stand_in_node:main',
        ]
    },
)
