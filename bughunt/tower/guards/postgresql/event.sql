-- What happened, as it happened. A state's change becomes an event by the triggers of its table alone: an
-- event that is written by hand would have to lead from the present state to itself, and is refused.

CREATE OR REPLACE FUNCTION event_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM event WHERE id = NEW.id) THEN
        PERFORM refuse('EVENT_IS_IMMUTABLE');
    END IF;

    IF (NEW.run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.run_id))
       OR (NEW.question_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM question WHERE id = NEW.question_id))
       OR (NEW.receipt_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id))
       OR (NEW.kind IN ('run', 'heartbeat', 'log', 'page') AND NEW.run_id IS NULL)
       OR (NEW.kind = 'question' AND NEW.question_id IS NULL)
       OR (NEW.kind = 'receipt' AND NEW.receipt_id IS NULL) THEN
        PERFORM refuse('EVENT_WITHOUT_SUBJECT');
    END IF;

    IF (NEW.kind IN ('run', 'question', 'receipt')) <> (NEW.seq IS NOT NULL)
       OR (NEW.kind IN ('run', 'question', 'receipt')) <> (NEW.to_state IS NOT NULL)
       OR NEW.from_state IS NOT DISTINCT FROM NEW.to_state AND NEW.to_state IS NOT NULL
       OR (NEW.kind = 'run' AND (
              NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.run_id AND state = NEW.to_state
                          AND moves = NEW.seq AND question_id IS NOT DISTINCT FROM NEW.question_id)
              OR (SELECT to_state FROM event WHERE run_id = NEW.run_id AND kind = 'run'
                  ORDER BY seq DESC LIMIT 1) IS DISTINCT FROM NEW.from_state))
       OR (NEW.kind = 'question' AND (
              NOT EXISTS (SELECT 1 FROM question WHERE id = NEW.question_id AND state = NEW.to_state
                          AND moves = NEW.seq)
              OR (SELECT to_state FROM event WHERE question_id = NEW.question_id AND kind = 'question'
                  ORDER BY seq DESC LIMIT 1) IS DISTINCT FROM NEW.from_state))
       OR (NEW.kind = 'receipt' AND (
              NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id AND state = NEW.to_state
                          AND moves = NEW.seq)
              OR (SELECT to_state FROM event WHERE receipt_id = NEW.receipt_id AND kind = 'receipt'
                  ORDER BY seq DESC LIMIT 1) IS DISTINCT FROM NEW.from_state)) THEN
        PERFORM refuse('EVENT_IS_FORGED');
    END IF;

    IF NEW.kind NOT IN ('run', 'question', 'receipt', 'heartbeat', 'log', 'page')
       OR NEW.seq <= 0 OR NOT is_time(NEW.at)
       OR NOT is_readable(NEW.who) OR NOT is_readable(NEW.why) THEN
        PERFORM refuse('EVENT_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS event_insert ON event;
CREATE TRIGGER event_insert BEFORE INSERT ON event FOR EACH ROW
    EXECUTE FUNCTION event_insert();

CREATE OR REPLACE FUNCTION event_inserted() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id <= 0 THEN
        PERFORM refuse('EVENT_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS event_inserted ON event;
CREATE TRIGGER event_inserted AFTER INSERT ON event FOR EACH ROW
    EXECUTE FUNCTION event_inserted();

DROP TRIGGER IF EXISTS event_update ON event;
CREATE TRIGGER event_update BEFORE UPDATE ON event FOR EACH ROW
    EXECUTE FUNCTION refuse_all('EVENT_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS event_delete ON event;
CREATE TRIGGER event_delete BEFORE DELETE ON event FOR EACH ROW
    EXECUTE FUNCTION refuse_all('EVENT_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS event_truncate ON event;
CREATE TRIGGER event_truncate BEFORE TRUNCATE ON event FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('EVENT_IS_IMMUTABLE');
