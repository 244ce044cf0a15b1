-- I1, I2. A receipt says what arrived, for ever; it settles once, by the relations that its intake wrote.

CREATE OR REPLACE FUNCTION receipt_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM receipt WHERE id = NEW.id) THEN
        PERFORM refuse('RECEIPT_IS_NEVER_DELETED');
    END IF;

    IF EXISTS (SELECT 1 FROM receipt
                  WHERE project = NEW.project AND idempotency_key = NEW.idempotency_key) THEN
        PERFORM refuse('RECEIPT_KEY_IS_UNIQUE');
    END IF;

    IF NEW.state IS DISTINCT FROM 'RECEIVED' THEN
        PERFORM refuse('RECEIPT_TRANSITION_REFUSED');
    END IF;

    IF NEW.moves IS DISTINCT FROM 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL OR NEW.moved_why IS NULL
       OR NOT is_time(NEW.moved_at)
       OR NOT is_readable(NEW.moved_by)
       OR NOT is_readable(NEW.moved_why) THEN
        PERFORM refuse('MOVE_UNATTRIBUTED');
    END IF;

    IF NEW.text = '' OR NEW.idempotency_key = '' OR NEW.source = ''
       OR NEW.attempts <> 0 OR NEW.failures <> 0
       OR NEW.settled_at IS NOT NULL OR NEW.relation IS NOT NULL OR NEW.parts IS NOT NULL
       OR length(NEW.text_digest) <> 64 OR trim(NEW.text_digest, '0123456789abcdef') <> ''
       OR length(NEW.digest) <> 64 OR trim(NEW.digest, '0123456789abcdef') <> ''
       OR NOT is_time(NEW.occurred_at)
       OR NOT is_time(NEW.received_at)
       OR NOT is_time(NEW.next_attempt_at) THEN
        PERFORM refuse('RECEIPT_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS receipt_insert ON receipt;
CREATE TRIGGER receipt_insert BEFORE INSERT ON receipt FOR EACH ROW
    EXECUTE FUNCTION receipt_insert();

CREATE OR REPLACE FUNCTION receipt_inserted() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id <= 0 THEN
        PERFORM refuse('RECEIPT_IS_MALFORMED');
    END IF;

    INSERT INTO event (kind, seq, receipt_id, at, who, from_state, to_state, why)
    VALUES ('receipt', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, NULL, NEW.state, NEW.moved_why);

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS receipt_inserted ON receipt;
CREATE TRIGGER receipt_inserted AFTER INSERT ON receipt FOR EACH ROW
    EXECUTE FUNCTION receipt_inserted();

CREATE OR REPLACE FUNCTION receipt_update() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.state NOT IN ('RECEIVED', 'PENDING_CONTEXT', 'FAILED_RETRYABLE', 'PARTIAL') THEN
        PERFORM refuse('RECEIPT_IS_SETTLED');
    END IF;

    IF NEW.id IS DISTINCT FROM OLD.id OR NEW.project IS DISTINCT FROM OLD.project
OR NEW.source IS DISTINCT FROM OLD.source
       OR NEW.idempotency_key IS DISTINCT FROM OLD.idempotency_key
       OR NEW.occurred_at IS DISTINCT FROM OLD.occurred_at
       OR NEW.received_at IS DISTINCT FROM OLD.received_at OR NEW.summary IS DISTINCT FROM OLD.summary
       OR NEW.text IS DISTINCT FROM OLD.text OR NEW.text_digest IS DISTINCT FROM OLD.text_digest
       OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.reference IS DISTINCT FROM OLD.reference
       OR NEW.thread IS DISTINCT FROM OLD.thread THEN
        PERFORM refuse('RECEIPT_IDENTITY_IS_FIXED');
    END IF;

    IF NEW.state IS DISTINCT FROM OLD.state
       AND NOT EXISTS (
        SELECT 1 WHERE OLD.state || ' ' || NEW.state IN (
            'RECEIVED PENDING_CONTEXT', 'RECEIVED FAILED_RETRYABLE', 'RECEIVED PARTIAL',
            'RECEIVED APPLIED', 'RECEIVED IGNORED',
            'PENDING_CONTEXT FAILED_RETRYABLE', 'PENDING_CONTEXT PARTIAL',
            'PENDING_CONTEXT APPLIED', 'PENDING_CONTEXT IGNORED',
            'FAILED_RETRYABLE PENDING_CONTEXT', 'FAILED_RETRYABLE PARTIAL',
            'FAILED_RETRYABLE APPLIED', 'FAILED_RETRYABLE IGNORED',
            'PARTIAL APPLIED')) THEN
        PERFORM refuse('RECEIPT_TRANSITION_REFUSED');
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

    -- Settled means that every part of it is tied to a Q, and that what is ignored is tied to none.
    IF (NEW.state = 'APPLIED'
           AND (NEW.relation IS NULL OR NEW.relation = 'IGNORE' OR NEW.parts IS NULL
                OR NEW.parts <> (SELECT COUNT(DISTINCT part) FROM relation WHERE receipt_id = NEW.id)))
       OR (NEW.state = 'IGNORED'
           AND (NEW.relation IS DISTINCT FROM 'IGNORE'
                OR EXISTS (SELECT 1 FROM relation WHERE receipt_id = NEW.id)))
       OR (NEW.state = 'PARTIAL'
           AND NOT EXISTS (SELECT 1 FROM relation WHERE receipt_id = NEW.id)) THEN
        PERFORM refuse('RECEIPT_SETTLED_REQUIRES_RELATION');
    END IF;

    IF (NEW.state IN ('APPLIED', 'IGNORED')) <> (NEW.settled_at IS NOT NULL)
       OR NEW.attempts < OLD.attempts OR NEW.failures < 0
       OR NEW.relation NOT IN ('IGNORE', 'LINK_EXISTING_Q', 'EVIDENCE_OR_ACCEPTANCE', 'NEW_Q', 'SPLIT_TO_N_Q')
       OR NEW.confidence NOT BETWEEN 0 AND 1
       OR NOT is_time(NEW.settled_at)
       OR NOT is_time(NEW.next_attempt_at) THEN
        PERFORM refuse('RECEIPT_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS receipt_update ON receipt;
CREATE TRIGGER receipt_update BEFORE UPDATE ON receipt FOR EACH ROW
    EXECUTE FUNCTION receipt_update();

CREATE OR REPLACE FUNCTION receipt_updated() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO event (kind, seq, receipt_id, at, who, from_state, to_state, why)
    VALUES ('receipt', NEW.moves, NEW.id, NEW.moved_at, NEW.moved_by, OLD.state, NEW.state, NEW.moved_why);

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS receipt_updated ON receipt;
CREATE TRIGGER receipt_updated AFTER UPDATE OF state ON receipt FOR EACH ROW
    WHEN (NEW.state IS DISTINCT FROM OLD.state)
    EXECUTE FUNCTION receipt_updated();

DROP TRIGGER IF EXISTS receipt_delete ON receipt;
CREATE TRIGGER receipt_delete BEFORE DELETE ON receipt FOR EACH ROW
    EXECUTE FUNCTION refuse_all('RECEIPT_IS_NEVER_DELETED');

DROP TRIGGER IF EXISTS receipt_truncate ON receipt;
CREATE TRIGGER receipt_truncate BEFORE TRUNCATE ON receipt FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('RECEIPT_IS_NEVER_DELETED');
