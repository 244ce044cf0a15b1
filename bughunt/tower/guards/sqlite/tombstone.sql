-- I7. A tombstone says what was there, of a RUN that is over, and stays.

DROP TRIGGER IF EXISTS tombstone_insert;
CREATE TRIGGER tombstone_insert BEFORE INSERT ON tombstone
BEGIN
    SELECT RAISE(ABORT, 'TOMBSTONE_WITHOUT_EVIDENCE')
    WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE id = NEW.evidence_id);

    SELECT RAISE(ABORT, 'TOMBSTONE_MUST_MATCH_EVIDENCE')
    WHERE NOT EXISTS (SELECT 1 FROM evidence
                      WHERE id = NEW.evidence_id AND digest = NEW.digest AND size = NEW.size);

    SELECT RAISE(ABORT, 'TOMBSTONE_BEFORE_TERMINAL')
    WHERE EXISTS (SELECT 1 FROM evidence JOIN run ON run.id = evidence.run_id
                  WHERE evidence.id = NEW.evidence_id
                    AND run.state IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE'));

    SELECT RAISE(ABORT, 'TOMBSTONE_IS_IMMUTABLE')
    WHERE EXISTS (SELECT 1 FROM tombstone WHERE id = NEW.id OR evidence_id = NEW.evidence_id);

    SELECT RAISE(ABORT, 'TOMBSTONE_IS_MALFORMED')
    WHERE NEW.why NOT GLOB (SELECT readable FROM form) OR NEW.at NOT GLOB (SELECT time FROM form);
END;

DROP TRIGGER IF EXISTS tombstone_inserted;
CREATE TRIGGER tombstone_inserted AFTER INSERT ON tombstone
BEGIN
    SELECT RAISE(ABORT, 'TOMBSTONE_IS_MALFORMED')
    WHERE NEW.id <= 0;
END;

DROP TRIGGER IF EXISTS tombstone_update;
CREATE TRIGGER tombstone_update BEFORE UPDATE ON tombstone
BEGIN
    SELECT RAISE(ABORT, 'TOMBSTONE_IS_IMMUTABLE');
END;

DROP TRIGGER IF EXISTS tombstone_delete;
CREATE TRIGGER tombstone_delete BEFORE DELETE ON tombstone
BEGIN
    SELECT RAISE(ABORT, 'TOMBSTONE_IS_IMMUTABLE');
END;
