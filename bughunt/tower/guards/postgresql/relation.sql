-- I3. A relation and an attachment need their receipt, come while it is unsettled, and stay.

CREATE OR REPLACE FUNCTION relation_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- Nobody brings it to its end beside this.
    PERFORM 1 FROM receipt WHERE id = NEW.receipt_id FOR NO KEY UPDATE;

    IF NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id) THEN
        PERFORM refuse('RELATION_WITHOUT_RECEIPT');
    END IF;

    IF NOT EXISTS (SELECT 1 FROM question JOIN receipt ON receipt.project = question.project
                      WHERE question.id = NEW.question_id AND receipt.id = NEW.receipt_id) THEN
        PERFORM refuse('RELATION_WITHOUT_QUESTION');
    END IF;

    IF EXISTS (SELECT 1 FROM relation
                  WHERE id = NEW.id OR (receipt_id = NEW.receipt_id AND part = NEW.part
                                        AND question_id = NEW.question_id)) THEN
        PERFORM refuse('RELATION_IS_IMMUTABLE');
    END IF;

    IF EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id AND state IN ('APPLIED', 'IGNORED')) THEN
        PERFORM refuse('RECEIPT_IS_SETTLED');
    END IF;

    IF NEW.part <= 0 OR NOT is_time(NEW.at)
       OR NOT is_readable(NEW.who)
       OR NEW.relation NOT IN ('LINK_EXISTING_Q', 'EVIDENCE_OR_ACCEPTANCE', 'NEW_Q') THEN
        PERFORM refuse('RELATION_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS relation_insert ON relation;
CREATE TRIGGER relation_insert BEFORE INSERT ON relation FOR EACH ROW
    EXECUTE FUNCTION relation_insert();

CREATE OR REPLACE FUNCTION relation_inserted() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id <= 0 THEN
        PERFORM refuse('RELATION_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS relation_inserted ON relation;
CREATE TRIGGER relation_inserted AFTER INSERT ON relation FOR EACH ROW
    EXECUTE FUNCTION relation_inserted();

DROP TRIGGER IF EXISTS relation_update ON relation;
CREATE TRIGGER relation_update BEFORE UPDATE ON relation FOR EACH ROW
    EXECUTE FUNCTION refuse_all('RELATION_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS relation_delete ON relation;
CREATE TRIGGER relation_delete BEFORE DELETE ON relation FOR EACH ROW
    EXECUTE FUNCTION refuse_all('RELATION_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS relation_truncate ON relation;
CREATE TRIGGER relation_truncate BEFORE TRUNCATE ON relation FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('RELATION_IS_IMMUTABLE');
