-- I3. An attachment comes with its receipt, before intake has looked at it, and stays.

DROP TRIGGER IF EXISTS attachment_insert;
CREATE TRIGGER attachment_insert BEFORE INSERT ON attachment
BEGIN
    SELECT RAISE(ABORT, 'ATTACHMENT_WITHOUT_RECEIPT')
    WHERE NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id);

    SELECT RAISE(ABORT, 'ATTACHMENT_IS_IMMUTABLE')
    WHERE EXISTS (SELECT 1 FROM attachment
                  WHERE id = NEW.id OR (receipt_id = NEW.receipt_id AND seq = NEW.seq))
       OR EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id AND state <> 'RECEIVED');

    SELECT RAISE(ABORT, 'ATTACHMENT_IS_MALFORMED')
    WHERE NEW.seq <= 0 OR NEW.size < 0 OR NEW.name NOT GLOB (SELECT readable FROM form)
       OR length(NEW.digest) <> 64 OR trim(NEW.digest, '0123456789abcdef') <> ''
       OR (NEW.body IS NOT NULL AND length(NEW.body) <> NEW.size);
END;

DROP TRIGGER IF EXISTS attachment_inserted;
CREATE TRIGGER attachment_inserted AFTER INSERT ON attachment
BEGIN
    SELECT RAISE(ABORT, 'ATTACHMENT_IS_MALFORMED')
    WHERE NEW.id <= 0;
END;

DROP TRIGGER IF EXISTS attachment_update;
CREATE TRIGGER attachment_update BEFORE UPDATE ON attachment
BEGIN
    SELECT RAISE(ABORT, 'ATTACHMENT_IS_IMMUTABLE');
END;

DROP TRIGGER IF EXISTS attachment_delete;
CREATE TRIGGER attachment_delete BEFORE DELETE ON attachment
BEGIN
    SELECT RAISE(ABORT, 'ATTACHMENT_IS_IMMUTABLE');
END;
