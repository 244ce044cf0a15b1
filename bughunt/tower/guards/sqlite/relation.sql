-- I3. A relation and an attachment need their receipt, come while it is unsettled, and stay.

DROP TRIGGER IF EXISTS relation_insert;
CREATE TRIGGER relation_insert BEFORE INSERT ON relation
BEGIN
    SELECT RAISE(ABORT, 'RELATION_WITHOUT_RECEIPT')
    WHERE NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id);

    SELECT RAISE(ABORT, 'RELATION_WITHOUT_QUESTION')
    WHERE NOT EXISTS (SELECT 1 FROM question JOIN receipt ON receipt.project = question.project
                      WHERE question.id = NEW.question_id AND receipt.id = NEW.receipt_id);

    SELECT RAISE(ABORT, 'RELATION_IS_IMMUTABLE')
    WHERE EXISTS (SELECT 1 FROM relation
                  WHERE id = NEW.id OR (receipt_id = NEW.receipt_id AND part = NEW.part
                                        AND question_id = NEW.question_id));

    SELECT RAISE(ABORT, 'RECEIPT_IS_SETTLED')
    WHERE EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id AND state IN ('APPLIED', 'IGNORED'));

    SELECT RAISE(ABORT, 'RELATION_IS_MALFORMED')
    WHERE NEW.part <= 0 OR NEW.at NOT GLOB (SELECT time FROM form)
       OR NEW.who NOT GLOB (SELECT readable FROM form)
       OR NEW.relation NOT IN ('LINK_EXISTING_Q', 'EVIDENCE_OR_ACCEPTANCE', 'NEW_Q');
END;

DROP TRIGGER IF EXISTS relation_inserted;
CREATE TRIGGER relation_inserted AFTER INSERT ON relation
BEGIN
    SELECT RAISE(ABORT, 'RELATION_IS_MALFORMED')
    WHERE NEW.id <= 0;
END;

DROP TRIGGER IF EXISTS relation_update;
CREATE TRIGGER relation_update BEFORE UPDATE ON relation
BEGIN
    SELECT RAISE(ABORT, 'RELATION_IS_IMMUTABLE');
END;

DROP TRIGGER IF EXISTS relation_delete;
CREATE TRIGGER relation_delete BEFORE DELETE ON relation
BEGIN
    SELECT RAISE(ABORT, 'RELATION_IS_IMMUTABLE');
END;
