-- I2, I3. A Q keeps its key for ever, is ANSWERED by a DONE run only, and outlives its runs.
-- Its text is what was asked last; what was asked at the time is in each run's CONDITIONS.
-- Here as in the other files: what CHECKs say is said again, since a raw connection can turn them off,
-- and a number is looked at after the row is in, since before it a number to come is -1.

CREATE OR REPLACE FUNCTION question_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM question WHERE id = NEW.id) THEN
        PERFORM refuse('QUESTION_IDENTITY_IS_FIXED');
    END IF;

    IF EXISTS (SELECT 1 FROM question
                  WHERE project = NEW.project AND charter = NEW.charter AND target = NEW.target
                    AND plan_fingerprint = NEW.plan_fingerprint) THEN
        PERFORM refuse('QUESTION_KEY_IS_UNIQUE');
    END IF;

    IF NEW.state = 'ANSWERED' THEN
        PERFORM refuse('QUESTION_ANSWER_REQUIRES_DONE_RUN');
    END IF;

    IF NEW.moves IS DISTINCT FROM 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL OR NEW.moved_why IS NULL
       OR NOT is_time(NEW.moved_at)
       OR NOT is_readable(NEW.moved_by)
       OR NOT is_readable(NEW.moved_why) THEN
        PERFORM refuse('MOVE_UNATTRIBUTED');
    END IF;

    IF NEW.state NOT IN ('OPEN', 'ANSWERED', 'CLOSED')
       OR NOT is_readable(NEW.text)
       OR NEW.drill NOT IN (0, 1)
       OR (NEW.drill = 1) <> (NEW.plan_fingerprint <> '')
       OR (NEW.drill = 1) <> (NEW.plan <> '[]')
       OR NOT is_time(NEW.created_at) THEN
        PERFORM refuse('QUESTION_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS question_insert ON question;
CREATE TRIGGER question_insert BEFORE INSERT ON question FOR EACH ROW
    EXECUTE FUNCTION question_insert();

CREATE OR REPLACE FUNCTION question_inserted() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id <= 0 THEN
        PERFORM refuse('QUESTION_IS_MALFORMED');
    END IF;

    INSERT INTO event (kind, seq, question_id, at, who, from_state, to_state, why)
    VALUES ('question', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, NULL, NEW.state, NEW.moved_why);

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS question_inserted ON question;
CREATE TRIGGER question_inserted AFTER INSERT ON question FOR EACH ROW
    EXECUTE FUNCTION question_inserted();

CREATE OR REPLACE FUNCTION question_update() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id IS DISTINCT FROM OLD.id OR NEW.project IS DISTINCT FROM OLD.project
OR NEW.charter IS DISTINCT FROM OLD.charter
       OR NEW.target IS DISTINCT FROM OLD.target
       OR NEW.plan_fingerprint IS DISTINCT FROM OLD.plan_fingerprint
       OR NEW.plan IS DISTINCT FROM OLD.plan OR NEW.drill IS DISTINCT FROM OLD.drill
       OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN
        PERFORM refuse('QUESTION_IDENTITY_IS_FIXED');
    END IF;

    IF NEW.state = 'ANSWERED'
       AND NOT EXISTS (SELECT 1 FROM run WHERE question_id = NEW.id AND state = 'DONE') THEN
        PERFORM refuse('QUESTION_ANSWER_REQUIRES_DONE_RUN');
    END IF;

    IF (NEW.state IS NOT DISTINCT FROM OLD.state
           AND (NEW.moves IS DISTINCT FROM OLD.moves OR NEW.moved_at IS DISTINCT FROM OLD.moved_at
                OR NEW.moved_by IS DISTINCT FROM OLD.moved_by
                OR NEW.moved_why IS DISTINCT FROM OLD.moved_why))
       OR (NEW.state IS DISTINCT FROM OLD.state
           AND (NEW.moves IS DISTINCT FROM OLD.moves + 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL
                OR NEW.moved_why IS NULL OR NOT is_time(NEW.moved_at)
                OR NOT is_readable(NEW.moved_by)
                OR NOT is_readable(NEW.moved_why))) THEN
        PERFORM refuse('MOVE_UNATTRIBUTED');
    END IF;

    IF NEW.state NOT IN ('OPEN', 'ANSWERED', 'CLOSED')
       OR NOT is_readable(NEW.text) THEN
        PERFORM refuse('QUESTION_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS question_update ON question;
CREATE TRIGGER question_update BEFORE UPDATE ON question FOR EACH ROW
    EXECUTE FUNCTION question_update();

CREATE OR REPLACE FUNCTION question_updated() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO event (kind, seq, question_id, at, who, from_state, to_state, why)
    VALUES ('question', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, OLD.state, NEW.state, NEW.moved_why);

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS question_updated ON question;
CREATE TRIGGER question_updated AFTER UPDATE OF state ON question FOR EACH ROW
    WHEN (NEW.state IS DISTINCT FROM OLD.state)
    EXECUTE FUNCTION question_updated();

DROP TRIGGER IF EXISTS question_delete ON question;
CREATE TRIGGER question_delete BEFORE DELETE ON question FOR EACH ROW
    EXECUTE FUNCTION refuse_all('QUESTION_IS_NEVER_DELETED');

DROP TRIGGER IF EXISTS question_truncate ON question;
CREATE TRIGGER question_truncate BEFORE TRUNCATE ON question FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('QUESTION_IS_NEVER_DELETED');
