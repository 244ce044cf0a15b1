-- I7. Bytes that evidence or a message names by their digest stay what they were.

CREATE OR REPLACE FUNCTION blob_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM blob WHERE digest = NEW.digest) THEN
        PERFORM refuse('BLOB_IS_IMMUTABLE');
    END IF;

    IF length(NEW.digest) <> 64 OR trim(NEW.digest, '0123456789abcdef') <> '' THEN
        PERFORM refuse('BLOB_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS blob_insert ON blob;
CREATE TRIGGER blob_insert BEFORE INSERT ON blob FOR EACH ROW
    EXECUTE FUNCTION blob_insert();

DROP TRIGGER IF EXISTS blob_update ON blob;
CREATE TRIGGER blob_update BEFORE UPDATE ON blob FOR EACH ROW
    EXECUTE FUNCTION refuse_all('BLOB_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS blob_delete ON blob;
CREATE TRIGGER blob_delete BEFORE DELETE ON blob FOR EACH ROW
    EXECUTE FUNCTION refuse_all('BLOB_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS blob_truncate ON blob;
CREATE TRIGGER blob_truncate BEFORE TRUNCATE ON blob FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('BLOB_IS_IMMUTABLE');
