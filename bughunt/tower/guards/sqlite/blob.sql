-- I7. Bytes that evidence or a message names by their digest stay what they were.

DROP TRIGGER IF EXISTS blob_insert;
CREATE TRIGGER blob_insert BEFORE INSERT ON blob
BEGIN
    SELECT RAISE(ABORT, 'BLOB_IS_IMMUTABLE')
    WHERE EXISTS (SELECT 1 FROM blob WHERE digest = NEW.digest);

    SELECT RAISE(ABORT, 'BLOB_IS_MALFORMED')
    WHERE length(NEW.digest) <> 64 OR trim(NEW.digest, '0123456789abcdef') <> '';
END;

DROP TRIGGER IF EXISTS blob_update;
CREATE TRIGGER blob_update BEFORE UPDATE ON blob
BEGIN
    SELECT RAISE(ABORT, 'BLOB_IS_IMMUTABLE');
END;

DROP TRIGGER IF EXISTS blob_delete;
CREATE TRIGGER blob_delete BEFORE DELETE ON blob
BEGIN
    SELECT RAISE(ABORT, 'BLOB_IS_IMMUTABLE');
END;
