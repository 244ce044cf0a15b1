-- What happened, as it happened. A state's change becomes an event by the triggers of its table alone: an
-- event that is written by hand would have to lead from the present state to itself, and is refused.

DROP TRIGGER IF EXISTS event_insert;
CREATE TRIGGER event_insert BEFORE INSERT ON event
BEGIN
    SELECT RAISE(ABORT, 'EVENT_IS_IMMUTABLE')
    WHERE EXISTS (SELECT 1 FROM event WHERE id = NEW.id);

    SELECT RAISE(ABORT, 'EVENT_WITHOUT_SUBJECT')
    WHERE (NEW.run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.run_id))
       OR (NEW.question_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM question WHERE id = NEW.question_id))
       OR (NEW.receipt_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id))
       OR (NEW.kind IN ('run', 'heartbeat', 'log', 'page') AND NEW.run_id IS NULL)
       OR (NEW.kind = 'question' AND NEW.question_id IS NULL)
       OR (NEW.kind = 'receipt' AND NEW.receipt_id IS NULL);

    SELECT RAISE(ABORT, 'EVENT_IS_FORGED')
    WHERE (NEW.kind IN ('run', 'question', 'receipt')) <> (NEW.seq IS NOT NULL)
       OR (NEW.kind IN ('run', 'question', 'receipt')) <> (NEW.to_state IS NOT NULL)
       OR NEW.from_state IS NEW.to_state AND NEW.to_state IS NOT NULL
       OR (NEW.kind = 'run' AND (
              NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.run_id AND state = NEW.to_state
                          AND moves = NEW.seq AND question_id IS NEW.question_id)
              OR (SELECT to_state FROM event WHERE run_id = NEW.run_id AND kind = 'run'
                  ORDER BY seq DESC LIMIT 1) IS NOT NEW.from_state))
       OR (NEW.kind = 'question' AND (
              NOT EXISTS (SELECT 1 FROM question WHERE id = NEW.question_id AND state = NEW.to_state
                          AND moves = NEW.seq)
              OR (SELECT to_state FROM event WHERE question_id = NEW.question_id AND kind = 'question'
                  ORDER BY seq DESC LIMIT 1) IS NOT NEW.from_state))
       OR (NEW.kind = 'receipt' AND (
              NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id AND state = NEW.to_state
                          AND moves = NEW.seq)
              OR (SELECT to_state FROM event WHERE receipt_id = NEW.receipt_id AND kind = 'receipt'
                  ORDER BY seq DESC LIMIT 1) IS NOT NEW.from_state));

    SELECT RAISE(ABORT, 'EVENT_IS_MALFORMED')
    WHERE NEW.kind NOT IN ('run', 'question', 'receipt', 'heartbeat', 'log', 'page')
       OR NEW.seq <= 0 OR NEW.at NOT GLOB (SELECT time FROM form)
       OR NEW.who NOT GLOB (SELECT readable FROM form) OR NEW.why NOT GLOB (SELECT readable FROM form);
END;

DROP TRIGGER IF EXISTS event_inserted;
CREATE TRIGGER event_inserted AFTER INSERT ON event
BEGIN
    SELECT RAISE(ABORT, 'EVENT_IS_MALFORMED')
    WHERE NEW.id <= 0;
END;

DROP TRIGGER IF EXISTS event_update;
CREATE TRIGGER event_update BEFORE UPDATE ON event
BEGIN
    SELECT RAISE(ABORT, 'EVENT_IS_IMMUTABLE');
END;

DROP TRIGGER IF EXISTS event_delete;
CREATE TRIGGER event_delete BEFORE DELETE ON event
BEGIN
    SELECT RAISE(ABORT, 'EVENT_IS_IMMUTABLE');
END;
