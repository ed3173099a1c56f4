-- The schema of the task file, version 1. Times are microseconds since 1970 in UTC. seq is the row's
-- number; floor.seq is the highest seq ever deleted. The triggers refuse illegal transitions and write a
-- history row for each change of state, for every program that writes to the file.

CREATE TABLE task (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    idempotency_key TEXT,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    blocked_by TEXT NOT NULL,
    deadline_s REAL,
    not_before INTEGER,
    max_retries INTEGER NOT NULL,
    resources TEXT,
    needs_approval INTEGER NOT NULL,
    held INTEGER NOT NULL,
    urgent INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    used_s REAL NOT NULL
) STRICT;
CREATE UNIQUE INDEX task_key ON task (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX task_ended ON task (updated_at) WHERE state IN ('completed', 'failed', 'cancelled');

CREATE TABLE history (
    seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    at INTEGER NOT NULL,
    before TEXT,
    after TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (seq, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE floor (seq INTEGER NOT NULL) STRICT;
INSERT INTO floor VALUES (0);

CREATE TABLE allowed (
    before TEXT NOT NULL, after TEXT NOT NULL, PRIMARY KEY (before, after)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER task_moves BEFORE UPDATE OF state ON task
WHEN NOT EXISTS (SELECT 1 FROM allowed WHERE before = old.state AND after = new.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition'); END;

CREATE TRIGGER task_inserted AFTER INSERT ON task
BEGIN
    INSERT INTO history VALUES (new.seq, 1, new.updated_at, NULL, new.state, new.reason);
END;

CREATE TRIGGER task_moved AFTER UPDATE OF state ON task
BEGIN
    INSERT INTO history SELECT
        new.seq, max(step) + 1, new.updated_at, old.state, new.state, new.reason
    FROM history WHERE seq = new.seq;
END;

CREATE TRIGGER task_deleted AFTER DELETE ON task
BEGIN
    DELETE FROM history WHERE seq = old.seq;
    UPDATE floor SET seq = max(seq, old.seq);
END;
