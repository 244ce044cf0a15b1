-- I3. An attachment comes with its receipt, before intake has looked at it, and stays.

CREATE OR REPLACE FUNCTION attachment_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- Nobody brings it to its end beside this.
    PERFORM 1 FROM receipt WHERE id = NEW.receipt_id FOR NO KEY UPDATE;

    IF NOT EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id) THEN
        PERFORM refuse('ATTACHMENT_WITHOUT_RECEIPT');
    END IF;

    IF EXISTS (SELECT 1 FROM attachment
                  WHERE id = NEW.id OR (receipt_id = NEW.receipt_id AND seq = NEW.seq))
       OR EXISTS (SELECT 1 FROM receipt WHERE id = NEW.receipt_id AND state <> 'RECEIVED') THEN
        PERFORM refuse('ATTACHMENT_IS_IMMUTABLE');
    END IF;

    IF NEW.seq <= 0 OR NEW.size < 0 OR NOT is_readable(NEW.name)
       OR length(NEW.digest) <> 64 OR trim(NEW.digest, '0123456789abcdef') <> ''
       OR (NEW.body IS NOT NULL AND length(NEW.body) <> NEW.size) THEN
        PERFORM refuse('ATTACHMENT_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS attachment_insert ON attachment;
CREATE TRIGGER attachment_insert BEFORE INSERT ON attachment FOR EACH ROW
    EXECUTE FUNCTION attachment_insert();

CREATE OR REPLACE FUNCTION attachment_inserted() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id <= 0 THEN
        PERFORM refuse('ATTACHMENT_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS attachment_inserted ON attachment;
CREATE TRIGGER attachment_inserted AFTER INSERT ON attachment FOR EACH ROW
    EXECUTE FUNCTION attachment_inserted();

DROP TRIGGER IF EXISTS attachment_update ON attachment;
CREATE TRIGGER attachment_update BEFORE UPDATE ON attachment FOR EACH ROW
    EXECUTE FUNCTION refuse_all('ATTACHMENT_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS attachment_delete ON attachment;
CREATE TRIGGER attachment_delete BEFORE DELETE ON attachment FOR EACH ROW
    EXECUTE FUNCTION refuse_all('ATTACHMENT_IS_IMMUTABLE');

DROP TRIGGER IF EXISTS attachment_truncate ON attachment;
CREATE TRIGGER attachment_truncate BEFORE TRUNCATE ON attachment FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('ATTACHMENT_IS_IMMUTABLE');
