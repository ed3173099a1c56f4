# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The questions of a run and their answers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked


@dataclass(frozen=True)
class RecordedQuestion:
    """``answer`` None: the recording holds none. ``answered_s``: when it came; None also if only
    the answer is recorded, at ``at_s``. ``text``: with the reasons to ask. Seconds since the start
    of the run.
    """

    at_s: float
    text: str
    rehearsal: str
    answer: QuestionAnswered | None = None
    answered_s: float | None = None

    @property
    def waited_s(self) -> float | None:
        """How long the answer took; None: there is none."""
        return None if self.answered_s is None else max(0.0, self.answered_s - self.at_s)


def recorded_questions(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedQuestion]:
    """``events``: the oldest first. Only the first answer counts, as it does in a run."""
    questions: dict[str, RecordedQuestion] = {}
    for at_s, event in events:
        asked, answer = QuestionAsked.of(event), QuestionAnswered.of(event)
        if asked is not None and asked.question_id not in questions:
            question = RecordedQuestion(at_s, event.message, asked.rehearsal)
            questions[asked.question_id] = question
        elif answer is not None:
            known = questions.get(answer.question_id)
            if known is None and answer.asked:
                questions[answer.question_id] = RecordedQuestion(at_s, answer.asked, '', answer)
            if known is not None and known.answer is None:
                answered = replace(known, answer=answer, answered_s=at_s)
                questions[answer.question_id] = answered
    return list(questions.values())
