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

-- What the gates accept as proof: rows that point at bytes.
DROP VIEW IF EXISTS proof;
CREATE VIEW proof AS
SELECT run_id, kind, load, ending, signature, cause, layer
FROM evidence
WHERE size > 0 AND length(digest) = 64 AND trim(digest, '0123456789abcdef') = '';
