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

from curiosity_rosa_demo.agent.react.checkpoint_codec import CheckpointCodec
from langgraph.checkpoint.sqlite import SqliteSaver

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
