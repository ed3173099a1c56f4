PRAGMA application_id = 1129467732;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE allowed (
        before TEXT NOT NULL, after TEXT NOT NULL, PRIMARY KEY (before, after)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "allowed" VALUES('active','cancelled');
INSERT INTO "allowed" VALUES('active','completed');
INSERT INTO "allowed" VALUES('active','failed');
INSERT INTO "allowed" VALUES('active','paused');
INSERT INTO "allowed" VALUES('active','recovering');
INSERT INTO "allowed" VALUES('active','waiting');
INSERT INTO "allowed" VALUES('paused','active');
INSERT INTO "allowed" VALUES('paused','cancelled');
INSERT INTO "allowed" VALUES('pending','active');
INSERT INTO "allowed" VALUES('pending','cancelled');
INSERT INTO "allowed" VALUES('pending','waiting');
INSERT INTO "allowed" VALUES('recovering','active');
INSERT INTO "allowed" VALUES('recovering','cancelled');
INSERT INTO "allowed" VALUES('recovering','failed');
INSERT INTO "allowed" VALUES('recovering','paused');
INSERT INTO "allowed" VALUES('waiting','cancelled');
INSERT INTO "allowed" VALUES('waiting','failed');
INSERT INTO "allowed" VALUES('waiting','pending');
CREATE TABLE floor (seq INTEGER NOT NULL) STRICT;
INSERT INTO "floor" VALUES(12);
CREATE TABLE history (
        seq INTEGER NOT NULL,
        step INTEGER NOT NULL,
        at INTEGER NOT NULL,
        before TEXT,
        after TEXT NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (seq, step)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "history" VALUES(1,1,1795161601000000,NULL,'pending','');
INSERT INTO "history" VALUES(2,1,1795161602000000,NULL,'pending','');
INSERT INTO "history" VALUES(2,2,1795161662000000,'pending','waiting','as waiting');
INSERT INTO "history" VALUES(3,1,1795161603000000,NULL,'pending','');
INSERT INTO "history" VALUES(3,2,1795161663000000,'pending','active','as active');
INSERT INTO "history" VALUES(4,1,1795161604000000,NULL,'pending','');
INSERT INTO "history" VALUES(4,2,1795161664000000,'pending','active','as active');
INSERT INTO "history" VALUES(4,3,1795161724000000,'active','paused','as paused');
INSERT INTO "history" VALUES(5,1,1795161605000000,NULL,'pending','');
INSERT INTO "history" VALUES(5,2,1795161665000000,'pending','active','as active');
INSERT INTO "history" VALUES(5,3,1795161725000000,'active','recovering','as recovering');
INSERT INTO "history" VALUES(6,1,1795161606000000,NULL,'pending','');
INSERT INTO "history" VALUES(6,2,1795161666000000,'pending','active','as active');
INSERT INTO "history" VALUES(6,3,1795161726000000,'active','completed','as completed');
INSERT INTO "history" VALUES(7,1,1795161607000000,NULL,'pending','');
INSERT INTO "history" VALUES(7,2,1795161667000000,'pending','active','as active');
INSERT INTO "history" VALUES(7,3,1795161727000000,'active','failed','as failed');
INSERT INTO "history" VALUES(8,1,1795161608000000,NULL,'pending','');
INSERT INTO "history" VALUES(8,2,1795161668000000,'pending','cancelled','as cancelled');
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
INSERT INTO "task" VALUES(1,'pending',NULL,'drive',1795161601000000,'pending','',1795161601000000,4,'{"text":"to the crater, pending \ud83e\udd80","arguments":{"m":1.5}}','[]',NULL,NULL,0,NULL,0,0,1,0,0.0);
INSERT INTO "task" VALUES(2,'waiting','once','drive',1795161602000000,'waiting','as waiting',1795161662000000,3,'{"text":"to the crater, waiting \ud83e\udd80","arguments":{"m":1.5}}','["pending"]',3600.0,1795248000000000,2,'["base","mast"]',1,0,0,0,0.0);
INSERT INTO "task" VALUES(3,'active',NULL,'drive',1795161603000000,'active','as active',1795161663000000,2,'{"text":"to the crater, active \ud83e\udd80","arguments":{"m":1.5}}','[]',NULL,NULL,0,NULL,0,0,0,0,0.0);
INSERT INTO "task" VALUES(4,'paused',NULL,'drive',1795161604000000,'paused','as paused',1795161724000000,1,'{"text":"to the crater, paused \ud83e\udd80","arguments":{"m":1.5}}','[]',NULL,NULL,0,NULL,0,1,0,0,2.5);
INSERT INTO "task" VALUES(5,'recovering',NULL,'drive',1795161605000000,'recovering','as recovering',1795161725000000,0,'{"text":"to the crater, recovering \ud83e\udd80","arguments":{"m":1.5}}','[]',NULL,NULL,0,NULL,0,0,0,0,0.0);
INSERT INTO "task" VALUES(6,'completed',NULL,'drive',1795161606000000,'completed','as completed',1795161726000000,-1,'{"text":"to the crater, completed \ud83e\udd80","arguments":{"m":1.5}}','[]',NULL,NULL,0,NULL,0,0,0,0,0.0);
INSERT INTO "task" VALUES(7,'failed',NULL,'drive',1795161607000000,'failed','as failed',1795161727000000,-2,'{"text":"to the crater, failed \ud83e\udd80","arguments":{"m":1.5}}','[]',NULL,NULL,0,NULL,0,0,0,0,0.0);
INSERT INTO "task" VALUES(8,'cancelled',NULL,'drive',1795161608000000,'cancelled','as cancelled',1795161668000000,-3,'{"text":"to the crater, cancelled \ud83e\udd80","arguments":{"m":1.5}}','[]',NULL,NULL,0,NULL,0,0,0,0,0.0);
CREATE UNIQUE INDEX task_key ON task (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX task_ended ON task (updated_at) WHERE state IN ('completed', 'failed', 'cancelled');
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
COMMIT;
