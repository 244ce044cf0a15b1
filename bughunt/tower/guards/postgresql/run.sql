-- I2 to I6. A RUN belongs to a Q, begins as QUEUED, goes the ways of tower/states.py, ends through
-- the gates, and then never changes. One trigger for each event, since the order of several is not
-- defined; in it, the first condition that holds names the refusal.

CREATE OR REPLACE FUNCTION run_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM question WHERE id = NEW.question_id AND project = NEW.project) THEN
        PERFORM refuse('RUN_WITHOUT_QUESTION');
    END IF;

    -- What REPLACE would delete.
    IF EXISTS (SELECT 1 FROM run WHERE id = NEW.id) THEN
        PERFORM refuse('RUN_IS_NEVER_DELETED');
    END IF;

    IF NEW.idempotency_key IS NOT NULL
       AND EXISTS (SELECT 1 FROM run WHERE project = NEW.project
                  AND idempotency_key = NEW.idempotency_key AND idempotency_key IS NOT NULL) THEN
        PERFORM refuse('RUN_KEY_IS_UNIQUE');
    END IF;

    -- Evidence refers to a RUN, so a RUN that is not there yet has none.
    IF NEW.state = 'DONE' THEN
        PERFORM refuse('RUN_DONE_REQUIRES_VERIFIED_LANDING');
    END IF;

    IF NEW.state = 'FAILED' AND (NEW.reason = 'ENV_ERROR' OR NEW.verdict = 'ENV_ERROR') THEN
        PERFORM refuse('RUN_ENV_ERROR_REQUIRES_CAUSE');
    END IF;

    IF NEW.state IS DISTINCT FROM 'QUEUED' THEN
        PERFORM refuse('RUN_TRANSITION_REFUSED');
    END IF;

    IF NEW.verdict IS NOT NULL OR NEW.level IS NOT NULL OR NEW.reason IS NOT NULL
       OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL OR NEW.gate_version IS NOT NULL
       OR NEW.superseded_by IS NOT NULL OR NEW.terminal_at IS NOT NULL OR NEW.started_at IS NOT NULL
       OR NEW.second_party IS NOT NULL THEN
        PERFORM refuse('RUN_VERDICT_BEFORE_TERMINAL');
    END IF;

    IF NEW.cites IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.cites AND question_id = NEW.question_id) THEN
        PERFORM refuse('RUN_CITES_ANOTHER_QUESTION');
    END IF;

    IF NEW.moves IS DISTINCT FROM 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL OR NEW.moved_why IS NULL
       OR NOT is_time(NEW.moved_at)
       OR NOT is_readable(NEW.moved_by)
       OR NOT is_readable(NEW.moved_why) THEN
        PERFORM refuse('MOVE_UNATTRIBUTED');
    END IF;

    IF NEW.agent = '' OR NEW.owner = ''
       OR NOT is_time(NEW.created_at)
       OR NOT is_time(NEW.lease_until) THEN
        PERFORM refuse('RUN_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS run_insert ON run;
CREATE TRIGGER run_insert BEFORE INSERT ON run FOR EACH ROW
    EXECUTE FUNCTION run_insert();

CREATE OR REPLACE FUNCTION run_inserted() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.id <= 0 THEN
        PERFORM refuse('RUN_IS_MALFORMED');
    END IF;

    -- This is also how it is told that the RUN belongs to its Q.
    INSERT INTO event (kind, seq, run_id, question_id, at, who, from_state, to_state, why)
    VALUES ('run', NEW.moves, NEW.id, NEW.question_id, NEW.moved_at, NEW.moved_by, NULL, NEW.state,
            NEW.moved_why);

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS run_inserted ON run;
CREATE TRIGGER run_inserted AFTER INSERT ON run FOR EACH ROW
    EXECUTE FUNCTION run_inserted();

CREATE OR REPLACE FUNCTION run_update() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.state NOT IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE') THEN
        PERFORM refuse('RUN_IS_TERMINAL');
    END IF;

    -- Who holds it may change while it waits; when it started is said once.
    IF NEW.id IS DISTINCT FROM OLD.id OR NEW.question_id IS DISTINCT FROM OLD.question_id
       OR NEW.project IS DISTINCT FROM OLD.project
       OR NEW.idempotency_key IS DISTINCT FROM OLD.idempotency_key
       OR NEW.agent IS DISTINCT FROM OLD.agent OR NEW.rules_version IS DISTINCT FROM OLD.rules_version
       OR NEW.build IS DISTINCT FROM OLD.build OR NEW.created_at IS DISTINCT FROM OLD.created_at
       OR NEW.cites IS DISTINCT FROM OLD.cites
       OR (NEW.owner IS DISTINCT FROM OLD.owner AND OLD.state <> 'QUEUED')
       OR (NEW.started_at IS DISTINCT FROM OLD.started_at AND OLD.started_at IS NOT NULL) THEN
        PERFORM refuse('RUN_IDENTITY_IS_FIXED');
    END IF;

    IF NEW.state IS DISTINCT FROM OLD.state
       AND NOT EXISTS (
        SELECT 1 WHERE OLD.state || ' ' || NEW.state IN (
            'QUEUED RUNNING', 'QUEUED STALE', 'QUEUED FAILED', 'QUEUED CANCELLED',
            'RUNNING VERIFYING', 'RUNNING STALE', 'RUNNING FAILED', 'RUNNING CANCELLED',
            'VERIFYING STALE', 'VERIFYING DONE', 'VERIFYING FAILED', 'VERIFYING CANCELLED',
            'STALE FAILED', 'STALE CANCELLED', 'STALE SUPERSEDED')) THEN
        PERFORM refuse('RUN_TRANSITION_REFUSED');
    END IF;

    IF NEW.state IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE')
       AND (NEW.verdict IS NOT NULL OR NEW.level IS NOT NULL OR NEW.reason IS NOT NULL
           OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL
           OR NEW.gate_version IS NOT NULL OR NEW.superseded_by IS NOT NULL
           OR NEW.terminal_at IS NOT NULL OR NEW.second_party IS NOT NULL) THEN
        PERFORM refuse('RUN_VERDICT_BEFORE_TERMINAL');
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

    -- I5. `cited` is the RUN that a second party repeated (worker) or looked at (person).
    -- A PASS with the same mismatch twice would be a BUG that comes and goes. Here any row counts,
    -- whatever it holds.
    IF NEW.state = 'DONE'
       AND NOT (
        NEW.terminal_at IS NOT NULL AND NEW.landed_at IS NOT NULL AND NEW.reason IS NULL
        AND NEW.gate_version IS NOT DISTINCT FROM 2 AND NEW.superseded_by IS NULL
        AND NEW.landing_note IS NOT NULL
        AND is_readable(NEW.landing_note)
        AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.id AND kind = 'judgement')
        AND (NEW.agent = 'person') = (NEW.second_party IS NOT DISTINCT FROM 'person')
        AND (NEW.second_party IS NULL
             OR EXISTS (SELECT 1 FROM run AS cited
                        WHERE cited.id = NEW.cites AND cited.question_id = NEW.question_id
                          AND cited.state IN ('DONE', 'FAILED', 'CANCELLED', 'SUPERSEDED')
                          AND (NEW.second_party = 'person'
                               OR (NEW.second_party = 'worker' AND cited.owner <> NEW.owner))))
        AND (
            (NEW.verdict IS NOT DISTINCT FROM 'PASS' AND NEW.level IS NOT DISTINCT FROM 'E4'
             AND NEW.second_party IS NULL
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.id))
            OR
            (NEW.verdict IS NOT DISTINCT FROM 'PASS' AND NEW.level IS NOT DISTINCT FROM 'E5'
             AND NEW.second_party IS NULL
             AND (SELECT COUNT(*) FROM held WHERE run_id = NEW.id) >= 2)
            OR
            (NEW.verdict IS NOT DISTINCT FROM 'PASS' AND NEW.level IS NOT DISTINCT FROM 'E5'
             AND NEW.second_party IS NOT DISTINCT FROM 'worker'
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.id)
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.cites))
            OR
            (NEW.verdict IS NOT DISTINCT FROM 'PASS' AND NEW.level IS NOT DISTINCT FROM 'E5'
             AND NEW.second_party IS NOT DISTINCT FROM 'person'
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.cites))
            OR
            (NEW.verdict IS NOT DISTINCT FROM 'BUG' AND NEW.level IS NOT DISTINCT FROM 'E5'
             AND NEW.second_party IS NULL
             AND EXISTS (SELECT 1 FROM mismatched AS one
                         JOIN mismatched AS two ON two.run_id = one.run_id AND two.load > one.load
                              AND two.signature = one.signature
                         WHERE one.run_id = NEW.id))
            OR
            (NEW.verdict IS NOT DISTINCT FROM 'BUG' AND NEW.level IS NOT DISTINCT FROM 'E5'
             AND NEW.second_party IS NOT DISTINCT FROM 'worker'
             AND EXISTS (SELECT 1 FROM mismatched AS one
                         JOIN mismatched AS two ON two.run_id = NEW.cites AND two.signature = one.signature
                         WHERE one.run_id = NEW.id))
            OR
            (NEW.verdict IS NOT DISTINCT FROM 'BUG' AND NEW.level IS NOT DISTINCT FROM 'E5'
             AND NEW.second_party IS NOT DISTINCT FROM 'person'
             AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.cites AND kind = 'network'))
        )
        AND (NEW.verdict IS DISTINCT FROM 'PASS'
             OR NOT EXISTS (SELECT 1 FROM evidence AS one
                            JOIN evidence AS two ON two.run_id = one.run_id AND two.kind = 'load'
                                 AND two.ending = 'mismatch' AND two.id <> one.id
                                 AND two.signature IS NOT DISTINCT FROM one.signature
                            WHERE one.run_id = NEW.id AND one.kind = 'load' AND one.ending = 'mismatch'))) THEN
        PERFORM refuse('RUN_DONE_REQUIRES_VERIFIED_LANDING');
    END IF;

    IF NEW.state IN ('FAILED', 'CANCELLED', 'SUPERSEDED') AND NEW.terminal_at IS NULL THEN
        PERFORM refuse('RUN_TERMINAL_REQUIRES_TIME');
    END IF;

    IF NEW.state = 'FAILED' AND NEW.reason IS NULL THEN
        PERFORM refuse('RUN_FAILED_REQUIRES_REASON');
    END IF;

    -- I6. ENV_ERROR is never the "else" branch.
    IF NEW.state = 'FAILED' AND NEW.reason = 'ENV_ERROR'
       AND NOT (
        NEW.verdict IS NOT DISTINCT FROM 'ENV_ERROR'
        AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.id AND kind = 'cause')
        AND (((SELECT COUNT(DISTINCT load) FROM proof WHERE run_id = NEW.id AND kind = 'load') >= 2
              AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.id AND kind = 'load'
                          AND ending IN ('blocked', 'mismatch')))
             OR EXISTS (SELECT 1 FROM proof
                        WHERE run_id = NEW.id AND kind = 'cause' AND layer IN ('browser', 'model')))) THEN
        PERFORM refuse('RUN_ENV_ERROR_REQUIRES_CAUSE');
    END IF;

    IF (NEW.state = 'FAILED' AND (
              (NEW.reason IN ('CHECK_ERROR', 'HARNESS_ERROR') AND NEW.verdict IS NOT NULL)
              OR (NEW.reason IN ('UNVERIFIED', 'CLAIM_UNREVIEWED') AND NEW.verdict IS NULL)
              OR NEW.reason NOT IN ('ENV_ERROR', 'CHECK_ERROR', 'HARNESS_ERROR', 'UNVERIFIED', 'CLAIM_UNREVIEWED')
              OR NEW.level IN ('E4', 'E5') OR NEW.second_party IS NOT NULL
              OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL
              OR NEW.gate_version IS NOT NULL))
       OR (NEW.state IN ('CANCELLED', 'SUPERSEDED')
           AND (NEW.verdict IS NOT NULL OR NEW.level IS NOT NULL OR NEW.reason IS NOT NULL
                OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL
                OR NEW.gate_version IS NOT NULL OR NEW.second_party IS NOT NULL)) THEN
        PERFORM refuse('RUN_VERDICT_REFUSED');
    END IF;

    IF (NEW.state = 'SUPERSEDED') <> (NEW.superseded_by IS NOT NULL)
       OR (NEW.superseded_by IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.superseded_by AND id > NEW.id
                           AND question_id = NEW.question_id)) THEN
        PERFORM refuse('RUN_SUPERSEDED_BY_NO_SUCCESSOR');
    END IF;

    IF NEW.owner = ''
       OR NEW.verdict NOT IN ('PASS', 'BUG', 'ENV_ERROR')
       OR NEW.level NOT IN ('E0', 'E1', 'E2', 'E3', 'E4', 'E5')
       OR NOT is_time(NEW.lease_until)
       OR NOT is_time(NEW.started_at)
       OR NOT is_time(NEW.terminal_at)
       OR NOT is_time(NEW.landed_at) THEN
        PERFORM refuse('RUN_IS_MALFORMED');
    END IF;

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS run_update ON run;
CREATE TRIGGER run_update BEFORE UPDATE ON run FOR EACH ROW
    EXECUTE FUNCTION run_update();

CREATE OR REPLACE FUNCTION run_updated() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO event (kind, seq, run_id, question_id, at, who, from_state, to_state, why)
    VALUES ('run', NEW.moves, NEW.id, NEW.question_id, NEW.moved_at, NEW.moved_by, OLD.state, NEW.state,
            NEW.moved_why);

    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS run_updated ON run;
CREATE TRIGGER run_updated AFTER UPDATE OF state ON run FOR EACH ROW
    WHEN (NEW.state IS DISTINCT FROM OLD.state)
    EXECUTE FUNCTION run_updated();

DROP TRIGGER IF EXISTS run_delete ON run;
CREATE TRIGGER run_delete BEFORE DELETE ON run FOR EACH ROW
    EXECUTE FUNCTION refuse_all('RUN_IS_NEVER_DELETED');

DROP TRIGGER IF EXISTS run_truncate ON run;
CREATE TRIGGER run_truncate BEFORE TRUNCATE ON run FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_all('RUN_IS_NEVER_DELETED');
