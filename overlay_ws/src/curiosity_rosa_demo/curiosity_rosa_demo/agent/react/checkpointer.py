# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Saves turns between their stages: LangGraph's SQLite saver, limited to the newest checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
import sqlite3
from typing import Any

from curiosity_rosa_demo.domain.brain_state import BrainState
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

# --- BrainState in a checkpoint as JSON text ---------------------------------------------------
# MessagePack, LangGraph's default, has no integers beyond 64 bits, and a model may write one.
# Pydantic also writes the text in a third of the time.


BRAIN, VALUES = 'brain', 'channel_values'


class CheckpointCodec(JsonPlusSerializer):
    """For checkpoints whose state has one channel, ``brain``."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        values = obj.get(VALUES) if isinstance(obj, dict) else None
        if isinstance(values, dict) and isinstance(values.get(BRAIN), BrainState):
            text = values[BRAIN].model_dump_json()
            obj = {**obj, VALUES: {**values, BRAIN: text}}
        return super().dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Raises ValidationError for a state in another version's format."""
        obj = super().loads_typed(data)
        values = obj.get(VALUES) if isinstance(obj, dict) else None
        if isinstance(values, dict) and isinstance(values.get(BRAIN), str):
            brain = BrainState.model_validate_json(values[BRAIN])
            obj = {**obj, VALUES: {**values, BRAIN: brain}}
        return obj


# A turn resumes from its last checkpoint; older ones are never read. Checkpoint IDs start with the
# time: after the clock was set back, an older checkpoint would count as the newest.
_DELETE_OLDER_CHECKPOINTS = """
CREATE TRIGGER newest_only AFTER INSERT ON checkpoints BEGIN
  DELETE FROM checkpoints WHERE thread_id = NEW.thread_id
    AND checkpoint_ns = NEW.checkpoint_ns AND checkpoint_id <> NEW.checkpoint_id;
  DELETE FROM writes WHERE thread_id = NEW.thread_id
    AND checkpoint_ns = NEW.checkpoint_ns AND checkpoint_id <> NEW.checkpoint_id;
END
"""


class TurnCheckpointer(SqliteSaver):
    """A turn's thread ID is its task's ID. Each checkpoint is one commit with synchronous=FULL."""

    def __init__(self, file: Path | str) -> None:
        self.file = file
        connection = sqlite3.connect(str(file), check_same_thread=False, timeout=5.0)
        super().__init__(connection, serde=CheckpointCodec())
        self.setup()
        self.conn.execute('PRAGMA synchronous=FULL')
        self.conn.execute('DROP TRIGGER IF EXISTS newest_only')
        self.conn.execute(_DELETE_OLDER_CHECKPOINTS)

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ''
    ) -> None:
        """Write nothing: a stage is done once the checkpoint that follows it is on the disk.

        The state holds the open question, which is asked again after a crash. From a stored answer
        LangGraph would resume without a new question, on an approval that is out of date.
        """

    def delete_others(self, threads: Collection[str]) -> None:
        """Delete the checkpoints of all threads that are not in ``threads``."""
        rows = self.conn.execute('SELECT DISTINCT thread_id FROM checkpoints').fetchall()
        for (thread,) in rows:
            if thread not in threads:
                self.delete_thread(thread)

    def close(self) -> None:
        self.conn.close()
