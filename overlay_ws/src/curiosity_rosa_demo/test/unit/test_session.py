"""What the session does for whoever asks, in front of a simulated rover."""

from __future__ import annotations

import pytest

from curiosity_rosa_demo.agent.brain import TurnRecord
from curiosity_rosa_demo.agent.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.agent.session import Session
from curiosity_rosa_demo.agent.turn import TurnResult
from curiosity_rosa_demo.domain.models import TraceEvent
from tool_rover import Hurry, TwinRover
from turn_world import SHIPPED


def session_of(rover: TwinRover, events: list[TraceEvent]) -> Session:
    return Session(rover, SHIPPED, rover.clock, events.append)  # type: ignore[arg-type]


def test_a_status_beside_a_turn_does_not_take_the_turns_stop_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rover, events = TwinRover(), list[TraceEvent]()
    session, button = session_of(rover, events), Hurry(TwinRover().clock)

    def turn(text: str, cancellation: Cancellation, record: TurnRecord) -> TurnResult:
        session._tools.cancellation = cancellation  # as Brain does
        assert session.tool('get_status', Cancellation()).ok  # somebody else's, meanwhile
        button.cancel('Stopped by a test')
        session._tools.run('move_forward', duration_s=1.0)
        raise AssertionError('a stopped turn went on')

    monkeypatch.setattr(session._brain, 'turn', turn)
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        session.turn('drive', 'answer', button, TurnRecord())
    assert 'move_forward' not in rover.calls


def test_a_turn_leaves_the_rover_still(monkeypatch: pytest.MonkeyPatch) -> None:
    rover, events = TwinRover(), list[TraceEvent]()
    session = session_of(rover, events)

    def turn(text: str, cancellation: Cancellation, record: TurnRecord) -> TurnResult:
        rover.motion = 'move_forward'
        return TurnResult(ok=True, answer='done', score=0.5, is_good=False)

    monkeypatch.setattr(session._brain, 'turn', turn)
    outcome = session.turn('drive', 'good_capture', Cancellation(), TurnRecord())
    assert not outcome.ok  # a picture was expected
    assert outcome.score == 0.5
    assert not rover.motion
    assert [event.message for event in events] == ['User: drive']
