-- I2, I3. A Q keeps its key for ever, is ANSWERED by a DONE run only, and outlives its runs.
-- Its text is what was asked last; what was asked at the time is in each run's CONDITIONS.
-- Here as in the other files: what CHECKs say is said again, since a raw connection can turn them off,
-- and a number is looked at after the row is in, since before it a number to come is -1.

DROP TRIGGER IF EXISTS question_insert;
CREATE TRIGGER question_insert BEFORE INSERT ON question
BEGIN
    SELECT RAISE(ABORT, 'QUESTION_IDENTITY_IS_FIXED')
    WHERE EXISTS (SELECT 1 FROM question WHERE id = NEW.id);

    SELECT RAISE(ABORT, 'QUESTION_KEY_IS_UNIQUE')
    WHERE EXISTS (SELECT 1 FROM question
                  WHERE project = NEW.project AND charter = NEW.charter AND target = NEW.target
                    AND plan_fingerprint = NEW.plan_fingerprint);

    SELECT RAISE(ABORT, 'QUESTION_ANSWER_REQUIRES_DONE_RUN')
    WHERE NEW.state = 'ANSWERED';

    SELECT RAISE(ABORT, 'MOVE_UNATTRIBUTED')
    WHERE NEW.moves IS NOT 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL OR NEW.moved_why IS NULL
       OR NEW.moved_at NOT GLOB (SELECT time FROM form)
       OR NEW.moved_by NOT GLOB (SELECT readable FROM form)
       OR NEW.moved_why NOT GLOB (SELECT readable FROM form);

    SELECT RAISE(ABORT, 'QUESTION_IS_MALFORMED')
    WHERE NEW.state NOT IN ('OPEN', 'ANSWERED', 'CLOSED')
       OR NEW.text NOT GLOB (SELECT readable FROM form)
       OR NEW.drill NOT IN (0, 1)
       OR (NEW.drill = 1) <> (NEW.plan_fingerprint <> '')
       OR (NEW.drill = 1) <> (NEW.plan <> '[]')
       OR NEW.created_at NOT GLOB (SELECT time FROM form);
END;

DROP TRIGGER IF EXISTS question_inserted;
CREATE TRIGGER question_inserted AFTER INSERT ON question
BEGIN
    SELECT RAISE(ABORT, 'QUESTION_IS_MALFORMED')
    WHERE NEW.id <= 0;

    INSERT INTO event (kind, seq, question_id, at, who, from_state, to_state, why)
    VALUES ('question', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, NULL, NEW.state, NEW.moved_why);
END;

DROP TRIGGER IF EXISTS question_update;
CREATE TRIGGER question_update BEFORE UPDATE ON question
BEGIN
    SELECT RAISE(ABORT, 'QUESTION_IDENTITY_IS_FIXED')
    WHERE NEW.id IS NOT OLD.id OR NEW.project IS NOT OLD.project OR NEW.charter IS NOT OLD.charter
       OR NEW.target IS NOT OLD.target OR NEW.plan_fingerprint IS NOT OLD.plan_fingerprint
       OR NEW.plan IS NOT OLD.plan OR NEW.drill IS NOT OLD.drill
       OR NEW.created_at IS NOT OLD.created_at;

    SELECT RAISE(ABORT, 'QUESTION_ANSWER_REQUIRES_DONE_RUN')
    WHERE NEW.state = 'ANSWERED'
      AND NOT EXISTS (SELECT 1 FROM run WHERE question_id = NEW.id AND state = 'DONE');

    SELECT RAISE(ABORT, 'MOVE_UNATTRIBUTED')
    WHERE (NEW.state IS OLD.state
           AND (NEW.moves IS NOT OLD.moves OR NEW.moved_at IS NOT OLD.moved_at
                OR NEW.moved_by IS NOT OLD.moved_by OR NEW.moved_why IS NOT OLD.moved_why))
       OR (NEW.state IS NOT OLD.state
           AND (NEW.moves IS NOT OLD.moves + 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL
                OR NEW.moved_why IS NULL OR NEW.moved_at NOT GLOB (SELECT time FROM form)
                OR NEW.moved_by NOT GLOB (SELECT readable FROM form)
                OR NEW.moved_why NOT GLOB (SELECT readable FROM form)));

    SELECT RAISE(ABORT, 'QUESTION_IS_MALFORMED')
    WHERE NEW.state NOT IN ('OPEN', 'ANSWERED', 'CLOSED')
       OR NEW.text NOT GLOB (SELECT readable FROM form);
END;

DROP TRIGGER IF EXISTS question_updated;
CREATE TRIGGER question_updated AFTER UPDATE OF state ON question WHEN NEW.state IS NOT OLD.state
BEGIN
    INSERT INTO event (kind, seq, question_id, at, who, from_state, to_state, why)
    VALUES ('question', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, OLD.state, NEW.state, NEW.moved_why);
END;

DROP TRIGGER IF EXISTS question_delete;
CREATE TRIGGER question_delete BEFORE DELETE ON question
BEGIN
    SELECT RAISE(ABORT, 'QUESTION_IS_NEVER_DELETED');
END;
