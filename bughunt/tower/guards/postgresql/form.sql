-- How a refusal is told, and how text must look.
-- `is_readable`: it has a sign that a person could see, which is none of the controls, spaces, breaks, what
-- Unicode ignores by default (joiners, fillers, variation selectors, tags), and the blank braille pattern.
-- The triggers keep the schema that they were made in: a temporary table of the same name proves nothing.

CREATE OR REPLACE FUNCTION refuse(code text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = '23514', MESSAGE = code, CONSTRAINT = code;
END
$$;

CREATE OR REPLACE FUNCTION refuse_all() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM refuse(TG_ARGV[0]);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION is_time(said text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT said ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$'
$$;

CREATE OR REPLACE FUNCTION is_readable(said text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT said ~ ('[^\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f-\u1160\u1680\u17b4-\u17b5'
        || '\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff'
        || '\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]')
$$;
