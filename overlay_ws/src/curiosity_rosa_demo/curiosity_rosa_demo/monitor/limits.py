# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The numbers in the formulas, from the configuration that the operator may change. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.infra.config.thresholds import Thresholds

# From a cause to standing wheels, beside the configured times: messages at 5 to 10 Hz, and a call
# of another node, which the trace reports up to 2.5 s late.
MESSAGES_S = 1.5
REACTION_S = 0.5  # a mast or an e-stop that has been so for this long is known to the adapter
KERNEL_S = 2.0  # the agent's kernel latches SAFE within this time of its cause
CHARGE_S = 60.0  # time of an agent to end its motion and to stow the mast before it charges


def limits_of(thresholds: Thresholds) -> dict[str, float]:
    """The value of each <name> of requirements.yaml: seconds."""
    motion, mast = thresholds.motion, thresholds.mast
    stop_s = motion.stop_timeout_s + motion.settle_s + MESSAGES_S
    return {
        'stop_s': stop_s,
        'leash_s': motion.max_duration_s + stop_s,
        'unasked_s': stop_s + motion.settle_s,
        'asked_s': motion.max_duration_s + 2 * stop_s,
        'silence_s': motion.odometry_stop_s + stop_s,
        'stale_s': motion.odometry_max_age_s + stop_s,
        'mast_s': mast.joint_max_age_s + stop_s,
        'reaction_s': REACTION_S,
        'safe_s': stop_s + KERNEL_S,
        'runaway_s': 2 * stop_s,
        'slip_s': 2 * thresholds.drive.slip_s + stop_s,
        'stuck_s': thresholds.drive.stuck_s + stop_s,
        'charge_s': CHARGE_S,
    }
