-- I3, I7. Evidence belongs to a RUN, is added while the RUN is not terminal, and never changes.
-- BEFORE INSERT refuses what REPLACE would delete: raw connections have no recursive_triggers.
-- Nothing here relies on foreign_keys or CHECK constraints, which a raw connection can turn off.

DROP TRIGGER IF EXISTS evidence_insert;
CREATE TRIGGER evidence_insert BEFORE INSERT ON evidence
BEGIN
    SELECT RAISE(ABORT, 'EVIDENCE_WITHOUT_RUN')
    WHERE NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.run_id);

    SELECT RAISE(ABORT, 'EVIDENCE_AFTER_TERMINAL')
    WHERE EXISTS (SELECT 1 FROM run WHERE id = NEW.run_id
                  AND state NOT IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE'));

    SELECT RAISE(ABORT, 'EVIDENCE_IS_IMMUTABLE')
    WHERE EXISTS (SELECT 1 FROM evidence WHERE id = NEW.id);

    SELECT RAISE(ABORT, 'EVIDENCE_SEQ_IS_UNIQUE')
    WHERE EXISTS (SELECT 1 FROM evidence WHERE run_id = NEW.run_id AND seq = NEW.seq);

    SELECT RAISE(ABORT, 'EVIDENCE_LOAD_IS_UNIQUE')
    WHERE NEW.kind IN ('load', 'network')
      AND EXISTS (SELECT 1 FROM evidence
                  WHERE run_id = NEW.run_id AND kind = NEW.kind AND load = NEW.load
                    AND kind IN ('load', 'network'));

    SELECT RAISE(ABORT, 'EVIDENCE_IS_MALFORMED')
    WHERE NEW.seq <= 0 OR NEW.media_type = '' OR NEW.size < 0
       OR length(NEW.digest) <> 64 OR trim(NEW.digest, '0123456789abcdef') <> ''
       OR (NEW.body IS NOT NULL AND length(NEW.body) <> NEW.size)
       OR NEW.at NOT GLOB (SELECT time FROM form)
       OR NEW.kind NOT IN ('conditions', 'load_started', 'exchanges', 'firing', 'network', 'load',
                           'cause', 'screenshot', 'aria', 'trace', 'judgement', 'note')
       OR NEW.load <= 0 OR (NEW.kind IN ('load', 'network') AND NEW.load IS NULL)
       OR (NEW.kind = 'load') <> (NEW.ending IS NOT NULL)
       OR NEW.ending NOT IN ('held', 'mismatch', 'blocked', 'check_error', 'unclear', 'held_up',
                             'harness_error')
       OR (NEW.signature IS NOT NULL AND NEW.kind <> 'load')
       OR NEW.signature NOT GLOB (SELECT readable FROM form)
       OR (NEW.kind = 'cause') <> (NEW.cause IS NOT NULL)
       OR (NEW.kind = 'cause') <> (NEW.layer IS NOT NULL)
       OR NEW.cause NOT GLOB (SELECT readable FROM form)
       OR NEW.layer NOT IN ('network', 'browser', 'model', 'product');
END;

DROP TRIGGER IF EXISTS evidence_inserted;
CREATE TRIGGER evidence_inserted AFTER INSERT ON evidence
BEGIN
    SELECT RAISE(ABORT, 'EVIDENCE_IS_MALFORMED')
    WHERE NEW.id <= 0;
END;

DROP TRIGGER IF EXISTS evidence_update;
CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence
BEGIN
    SELECT RAISE(ABORT, 'EVIDENCE_IS_IMMUTABLE');
END;

DROP TRIGGER IF EXISTS evidence_delete;
CREATE TRIGGER evidence_delete BEFORE DELETE ON evidence
BEGIN
    SELECT RAISE(ABORT, 'EVIDENCE_IS_IMMUTABLE');
END;

-- What the gates accept as proof: rows that hold their bytes. A network record may be too large for its
-- row; then it is a blob, which is held to its digest when it is read.
DROP VIEW IF EXISTS proof;
CREATE VIEW proof AS
SELECT run_id, kind, load, ending, signature, cause, layer
FROM evidence
WHERE size > 0 AND length(digest) = 64 AND trim(digest, '0123456789abcdef') = ''
  AND CASE WHEN body IS NULL THEN kind = 'network' ELSE length(body) = size END
  AND CASE WHEN kind IN ('load', 'network') THEN load > 0 ELSE kind IN ('cause', 'judgement') END;

-- Loads that held, and loads that showed a mismatch, each with its network record. That a kind is named twice
-- tells SQLite that the partial index of the two kinds fits: a gate and an audit look each RUN up there.
DROP VIEW IF EXISTS held;
CREATE VIEW held AS
SELECT load.run_id, load.load
FROM evidence AS load
JOIN evidence AS network ON network.run_id = load.run_id AND network.load = load.load
     AND network.kind = 'network' AND network.kind IN ('load', 'network')
     AND network.size > 0 AND length(network.digest) = 64
     AND (network.body IS NULL OR length(network.body) = network.size)
WHERE load.kind = 'load' AND load.kind IN ('load', 'network') AND load.ending = 'held' AND load.load > 0
  AND load.size > 0 AND length(load.digest) = 64 AND length(load.body) = load.size;

DROP VIEW IF EXISTS mismatched;
CREATE VIEW mismatched AS
SELECT load.run_id, load.load, load.signature
FROM evidence AS load
JOIN evidence AS network ON network.run_id = load.run_id AND network.load = load.load
     AND network.kind = 'network' AND network.kind IN ('load', 'network')
     AND network.size > 0 AND length(network.digest) = 64
     AND (network.body IS NULL OR length(network.body) = network.size)
WHERE load.kind = 'load' AND load.kind IN ('load', 'network') AND load.ending = 'mismatch' AND load.load > 0
  AND load.size > 0 AND length(load.digest) = 64 AND length(load.body) = load.size
  AND load.signature GLOB (SELECT readable FROM form);
