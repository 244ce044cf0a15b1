-- I7. A tombstone says what was there, of a RUN that is over, and stays.

CREATE OR REPLACE FUNCTION tombstone_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM evidence WHERE id = NEW.evidence_id) THEN
        PERFORM refuse('TOMBSTONE_WITHOUT_EVIDENCE');
    END IF;

    IF NOT EXISTS (SELECT 1 FROM evidence
                      WHERE id = NEW.evidence_id AND digest = NEW.digest AND size = NEW.size) THEN
        PERFORM refuse('TOMBSTONE_MUST_MATCH_EVIDENCE');
    END IF;

    IF EXISTS (SELECT 1 FROM evidence JOIN run ON run.id = evidence.run_id
                  WHERE evidence.id = NEW.evidence_id
                    AND run.state IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE')) THEN
        PERFORM refuse('TOMBSTONE_BEFORE_TERMINAL');
    END IF;

    IF EXISTS (SELECT 1 FROM tombstone WHERE id = NEW.id OR evidence_id = NEW.evidence_id) THEN
        PERFORM refuse('TOMBSTONE_IS_IMMUTABLE');
    END IF;

    IF NOT is_readable(NEW.why) OR NOT is_time(NEW.at) THEN
        PERFORM refuse('TOMBSTONE_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS tombstone_insert ON tombstone;
CREATE TRIGGER tombstone_insert BEFORE INSERT ON tombstone FOR EACH ROW
    EXECUTE FUNCTION tombstone_insert();

CREATE OR REPLACE FUNCTION tombstone_inserted() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id <= 0 THEN
        PERFORM refuse('TOMBSTONE_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS tombstone_inserted ON tombstone;
CREATE TRIGGER tombstone_inserted AFTER INSERT ON tombstone FOR EACH ROW
    EXECUTE FUNCTION tombstone_inserted();

DROP TRIGGER IF EXISTS tombstone_update ON tombstone;
CREATE TRIGGER tombstone_update BEFORE UPDATE ON tombstone FOR EACH ROW
    EXECUTE FUNCTION refuse_all('TOMBSTONE_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS tombstone_delete ON tombstone;
CREATE TRIGGER tombstone_delete BEFORE DELETE ON tombstone FOR EACH ROW
    EXECUTE FUNCTION refuse_all('TOMBSTONE_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS tombstone_truncate ON tombstone;
CREATE TRIGGER tombstone_truncate BEFORE TRUNCATE ON tombstone FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('TOMBSTONE_IS_IMMUTABLE');
