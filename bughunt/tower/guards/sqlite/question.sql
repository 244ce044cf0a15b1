-- I2, I3. A Q keeps its key for ever, is ANSWERED by a DONE run only, and outlives its runs.

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
END;

DROP TRIGGER IF EXISTS question_delete;
CREATE TRIGGER question_delete BEFORE DELETE ON question
BEGIN
    SELECT RAISE(ABORT, 'QUESTION_HAS_RUNS')
    WHERE EXISTS (SELECT 1 FROM run WHERE question_id = OLD.id);
END;
