-- I1, I2. A receipt says what arrived, for ever; it settles once, by the relations that its intake wrote.

DROP TRIGGER IF EXISTS receipt_insert;
CREATE TRIGGER receipt_insert BEFORE INSERT ON receipt
BEGIN
    SELECT RAISE(ABORT, 'RECEIPT_IS_NEVER_DELETED')
    WHERE EXISTS (SELECT 1 FROM receipt WHERE id = NEW.id);

    SELECT RAISE(ABORT, 'RECEIPT_KEY_IS_UNIQUE')
    WHERE EXISTS (SELECT 1 FROM receipt
                  WHERE project = NEW.project AND idempotency_key = NEW.idempotency_key);

    SELECT RAISE(ABORT, 'RECEIPT_TRANSITION_REFUSED')
    WHERE NEW.state IS NOT 'RECEIVED';

    SELECT RAISE(ABORT, 'MOVE_UNATTRIBUTED')
    WHERE NEW.moves IS NOT 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL OR NEW.moved_why IS NULL
       OR NEW.moved_at NOT GLOB (SELECT time FROM form)
       OR NEW.moved_by NOT GLOB (SELECT readable FROM form)
       OR NEW.moved_why NOT GLOB (SELECT readable FROM form);

    SELECT RAISE(ABORT, 'RECEIPT_IS_MALFORMED')
    WHERE NEW.text = '' OR NEW.idempotency_key = '' OR NEW.source = ''
       OR NEW.attempts <> 0 OR NEW.failures <> 0
       OR NEW.settled_at IS NOT NULL OR NEW.relation IS NOT NULL OR NEW.parts IS NOT NULL
       OR length(NEW.text_digest) <> 64 OR trim(NEW.text_digest, '0123456789abcdef') <> ''
       OR length(NEW.digest) <> 64 OR trim(NEW.digest, '0123456789abcdef') <> ''
       OR NEW.occurred_at NOT GLOB (SELECT time FROM form)
       OR NEW.received_at NOT GLOB (SELECT time FROM form)
       OR NEW.next_attempt_at NOT GLOB (SELECT time FROM form);
END;

DROP TRIGGER IF EXISTS receipt_inserted;
CREATE TRIGGER receipt_inserted AFTER INSERT ON receipt
BEGIN
    SELECT RAISE(ABORT, 'RECEIPT_IS_MALFORMED')
    WHERE NEW.id <= 0;

    INSERT INTO event (kind, seq, receipt_id, at, who, from_state, to_state, why)
    VALUES ('receipt', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, NULL, NEW.state, NEW.moved_why);
END;

DROP TRIGGER IF EXISTS receipt_update;
CREATE TRIGGER receipt_update BEFORE UPDATE ON receipt
BEGIN
    SELECT RAISE(ABORT, 'RECEIPT_IS_SETTLED')
    WHERE OLD.state NOT IN ('RECEIVED', 'PENDING_CONTEXT', 'FAILED_RETRYABLE', 'PARTIAL');

    SELECT RAISE(ABORT, 'RECEIPT_IDENTITY_IS_FIXED')
    WHERE NEW.id IS NOT OLD.id OR NEW.project IS NOT OLD.project OR NEW.source IS NOT OLD.source
       OR NEW.idempotency_key IS NOT OLD.idempotency_key OR NEW.occurred_at IS NOT OLD.occurred_at
       OR NEW.received_at IS NOT OLD.received_at OR NEW.summary IS NOT OLD.summary
       OR NEW.text IS NOT OLD.text OR NEW.text_digest IS NOT OLD.text_digest
       OR NEW.digest IS NOT OLD.digest OR NEW.reference IS NOT OLD.reference
       OR NEW.thread IS NOT OLD.thread;

    SELECT RAISE(ABORT, 'RECEIPT_TRANSITION_REFUSED')
    WHERE NEW.state IS NOT OLD.state
      AND NOT EXISTS (
        SELECT 1 WHERE OLD.state || ' ' || NEW.state IN (
            'RECEIVED PENDING_CONTEXT', 'RECEIVED FAILED_RETRYABLE', 'RECEIVED PARTIAL',
            'RECEIVED APPLIED', 'RECEIVED IGNORED',
            'PENDING_CONTEXT FAILED_RETRYABLE', 'PENDING_CONTEXT PARTIAL',
            'PENDING_CONTEXT APPLIED', 'PENDING_CONTEXT IGNORED',
            'FAILED_RETRYABLE PENDING_CONTEXT', 'FAILED_RETRYABLE PARTIAL',
            'FAILED_RETRYABLE APPLIED', 'FAILED_RETRYABLE IGNORED',
            'PARTIAL APPLIED'));

    SELECT RAISE(ABORT, 'MOVE_UNATTRIBUTED')
    WHERE (NEW.state IS OLD.state
           AND (NEW.moves IS NOT OLD.moves OR NEW.moved_at IS NOT OLD.moved_at
                OR NEW.moved_by IS NOT OLD.moved_by OR NEW.moved_why IS NOT OLD.moved_why))
       OR (NEW.state IS NOT OLD.state
           AND (NEW.moves IS NOT OLD.moves + 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL
                OR NEW.moved_why IS NULL OR NEW.moved_at NOT GLOB (SELECT time FROM form)
                OR NEW.moved_by NOT GLOB (SELECT readable FROM form)
                OR NEW.moved_why NOT GLOB (SELECT readable FROM form)));

    -- Settled means that every part of it is tied to a Q, and that what is ignored is tied to none.
    SELECT RAISE(ABORT, 'RECEIPT_SETTLED_REQUIRES_RELATION')
    WHERE (NEW.state = 'APPLIED'
           AND (NEW.relation IS NULL OR NEW.relation = 'IGNORE' OR NEW.parts IS NULL
                OR NEW.parts <> (SELECT COUNT(DISTINCT part) FROM relation WHERE receipt_id = NEW.id)))
       OR (NEW.state = 'IGNORED'
           AND (NEW.relation IS NOT 'IGNORE'
                OR EXISTS (SELECT 1 FROM relation WHERE receipt_id = NEW.id)))
       OR (NEW.state = 'PARTIAL'
           AND NOT EXISTS (SELECT 1 FROM relation WHERE receipt_id = NEW.id));

    SELECT RAISE(ABORT, 'RECEIPT_IS_MALFORMED')
    WHERE (NEW.state IN ('APPLIED', 'IGNORED')) <> (NEW.settled_at IS NOT NULL)
       OR NEW.attempts < OLD.attempts OR NEW.failures < 0
       OR NEW.relation NOT IN ('IGNORE', 'LINK_EXISTING_Q', 'EVIDENCE_OR_ACCEPTANCE', 'NEW_Q', 'SPLIT_TO_N_Q')
       OR NEW.confidence NOT BETWEEN 0 AND 1
       OR NEW.settled_at NOT GLOB (SELECT time FROM form)
       OR NEW.next_attempt_at NOT GLOB (SELECT time FROM form);
END;

DROP TRIGGER IF EXISTS receipt_updated;
CREATE TRIGGER receipt_updated AFTER UPDATE OF state ON receipt WHEN NEW.state IS NOT OLD.state
BEGIN
    INSERT INTO event (kind, seq, receipt_id, at, who, from_state, to_state, why)
    VALUES ('receipt', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, OLD.state, NEW.state, NEW.moved_why);
END;

DROP TRIGGER IF EXISTS receipt_delete;
CREATE TRIGGER receipt_delete BEFORE DELETE ON receipt
BEGIN
    SELECT RAISE(ABORT, 'RECEIPT_IS_NEVER_DELETED');
END;
