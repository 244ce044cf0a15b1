-- I2 to I6. A RUN belongs to a Q, begins as QUEUED, goes the ways of tower/states.py, ends through
-- the gates, and then never changes. One trigger for each event, since the order of several is not
-- defined; in it, the first condition that holds names the refusal.

DROP TRIGGER IF EXISTS run_insert;
CREATE TRIGGER run_insert BEFORE INSERT ON run
BEGIN
    SELECT RAISE(ABORT, 'RUN_WITHOUT_QUESTION')
    WHERE NOT EXISTS (SELECT 1 FROM question WHERE id = NEW.question_id AND project = NEW.project);

    -- What REPLACE would delete.
    SELECT RAISE(ABORT, 'RUN_IS_NEVER_DELETED')
    WHERE EXISTS (SELECT 1 FROM run WHERE id = NEW.id);

    SELECT RAISE(ABORT, 'RUN_KEY_IS_UNIQUE')
    WHERE NEW.idempotency_key IS NOT NULL
      AND EXISTS (SELECT 1 FROM run WHERE project = NEW.project
                  AND idempotency_key = NEW.idempotency_key AND idempotency_key IS NOT NULL);

    -- Evidence refers to a RUN, so a RUN that is not there yet has none.
    SELECT RAISE(ABORT, 'RUN_DONE_REQUIRES_VERIFIED_LANDING')
    WHERE NEW.state = 'DONE';

    SELECT RAISE(ABORT, 'RUN_ENV_ERROR_REQUIRES_CAUSE')
    WHERE NEW.state = 'FAILED' AND (NEW.reason = 'ENV_ERROR' OR NEW.verdict = 'ENV_ERROR');

    SELECT RAISE(ABORT, 'RUN_TRANSITION_REFUSED')
    WHERE NEW.state IS NOT 'QUEUED';

    SELECT RAISE(ABORT, 'RUN_VERDICT_BEFORE_TERMINAL')
    WHERE NEW.verdict IS NOT NULL OR NEW.level IS NOT NULL OR NEW.reason IS NOT NULL
       OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL OR NEW.gate_version IS NOT NULL
       OR NEW.superseded_by IS NOT NULL OR NEW.terminal_at IS NOT NULL OR NEW.started_at IS NOT NULL
       OR NEW.second_party IS NOT NULL;

    SELECT RAISE(ABORT, 'RUN_CITES_ANOTHER_QUESTION')
    WHERE NEW.cites IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.cites AND question_id = NEW.question_id);

    SELECT RAISE(ABORT, 'MOVE_UNATTRIBUTED')
    WHERE NEW.moves IS NOT 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL OR NEW.moved_why IS NULL
       OR NEW.moved_at NOT GLOB (SELECT time FROM form)
       OR NEW.moved_by NOT GLOB (SELECT readable FROM form)
       OR NEW.moved_why NOT GLOB (SELECT readable FROM form);

    SELECT RAISE(ABORT, 'RUN_IS_MALFORMED')
    WHERE NEW.agent = '' OR NEW.owner = ''
       OR NEW.created_at NOT GLOB (SELECT time FROM form)
       OR NEW.lease_until NOT GLOB (SELECT time FROM form);
END;

DROP TRIGGER IF EXISTS run_inserted;
CREATE TRIGGER run_inserted AFTER INSERT ON run
BEGIN
    SELECT RAISE(ABORT, 'RUN_IS_MALFORMED')
    WHERE NEW.id <= 0;

    -- This is also how it is told that the RUN belongs to its Q.
    INSERT INTO event (kind, seq, run_id, question_id, at, who, from_state, to_state, why)
    VALUES ('run', NEW.moves, NEW.id, NEW.question_id, NEW.moved_at, NEW.moved_by, NULL, NEW.state,
            NEW.moved_why);
END;

DROP TRIGGER IF EXISTS run_update;
CREATE TRIGGER run_update BEFORE UPDATE ON run
BEGIN
    SELECT RAISE(ABORT, 'RUN_IS_TERMINAL')
    WHERE OLD.state NOT IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE');

    -- Who holds it may change while it waits; when it started is said once.
    SELECT RAISE(ABORT, 'RUN_IDENTITY_IS_FIXED')
    WHERE NEW.id IS NOT OLD.id OR NEW.question_id IS NOT OLD.question_id
       OR NEW.project IS NOT OLD.project OR NEW.idempotency_key IS NOT OLD.idempotency_key
       OR NEW.agent IS NOT OLD.agent OR NEW.rules_version IS NOT OLD.rules_version
       OR NEW.build IS NOT OLD.build OR NEW.created_at IS NOT OLD.created_at
       OR NEW.cites IS NOT OLD.cites
       OR (NEW.owner IS NOT OLD.owner AND OLD.state <> 'QUEUED')
       OR (NEW.started_at IS NOT OLD.started_at AND OLD.started_at IS NOT NULL);

    SELECT RAISE(ABORT, 'RUN_TRANSITION_REFUSED')
    WHERE NEW.state IS NOT OLD.state
      AND NOT EXISTS (
        SELECT 1 WHERE OLD.state || ' ' || NEW.state IN (
            'QUEUED RUNNING', 'QUEUED STALE', 'QUEUED FAILED', 'QUEUED CANCELLED',
            'RUNNING VERIFYING', 'RUNNING STALE', 'RUNNING FAILED', 'RUNNING CANCELLED',
            'VERIFYING STALE', 'VERIFYING DONE', 'VERIFYING FAILED', 'VERIFYING CANCELLED',
            'STALE FAILED', 'STALE CANCELLED', 'STALE SUPERSEDED'));

    SELECT RAISE(ABORT, 'RUN_VERDICT_BEFORE_TERMINAL')
    WHERE NEW.state IN ('QUEUED', 'RUNNING', 'VERIFYING', 'STALE')
      AND (NEW.verdict IS NOT NULL OR NEW.level IS NOT NULL OR NEW.reason IS NOT NULL
           OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL
           OR NEW.gate_version IS NOT NULL OR NEW.superseded_by IS NOT NULL
           OR NEW.terminal_at IS NOT NULL OR NEW.second_party IS NOT NULL);

    SELECT RAISE(ABORT, 'MOVE_UNATTRIBUTED')
    WHERE (NEW.state IS OLD.state
           AND (NEW.moves IS NOT OLD.moves OR NEW.moved_at IS NOT OLD.moved_at
                OR NEW.moved_by IS NOT OLD.moved_by OR NEW.moved_why IS NOT OLD.moved_why))
       OR (NEW.state IS NOT OLD.state
           AND (NEW.moves IS NOT OLD.moves + 1 OR NEW.moved_at IS NULL OR NEW.moved_by IS NULL
                OR NEW.moved_why IS NULL OR NEW.moved_at NOT GLOB (SELECT time FROM form)
                OR NEW.moved_by NOT GLOB (SELECT readable FROM form)
                OR NEW.moved_why NOT GLOB (SELECT readable FROM form)));

    -- I5. `cited` is the RUN that a second party repeated (worker) or looked at (person).
    SELECT RAISE(ABORT, 'RUN_DONE_REQUIRES_VERIFIED_LANDING')
    WHERE NEW.state = 'DONE'
      AND NOT (
        NEW.terminal_at IS NOT NULL AND NEW.landed_at IS NOT NULL AND NEW.reason IS NULL
        AND NEW.gate_version IS 2 AND NEW.superseded_by IS NULL
        AND NEW.landing_note IS NOT NULL
        AND NEW.landing_note GLOB (SELECT readable FROM form)
        AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.id AND kind = 'judgement')
        AND (NEW.agent = 'person') = (NEW.second_party IS 'person')
        AND (NEW.second_party IS NULL
             OR EXISTS (SELECT 1 FROM run AS cited
                        WHERE cited.id = NEW.cites AND cited.question_id = NEW.question_id
                          AND cited.state IN ('DONE', 'FAILED', 'CANCELLED', 'SUPERSEDED')
                          AND (NEW.second_party = 'person'
                               OR (NEW.second_party = 'worker' AND cited.owner <> NEW.owner))))
        AND (
            (NEW.verdict IS 'PASS' AND NEW.level IS 'E4' AND NEW.second_party IS NULL
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.id))
            OR
            (NEW.verdict IS 'PASS' AND NEW.level IS 'E5' AND NEW.second_party IS NULL
             AND (SELECT COUNT(*) FROM held WHERE run_id = NEW.id) >= 2)
            OR
            (NEW.verdict IS 'PASS' AND NEW.level IS 'E5' AND NEW.second_party IS 'worker'
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.id)
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.cites))
            OR
            (NEW.verdict IS 'PASS' AND NEW.level IS 'E5' AND NEW.second_party IS 'person'
             AND EXISTS (SELECT 1 FROM held WHERE run_id = NEW.cites))
            OR
            (NEW.verdict IS 'BUG' AND NEW.level IS 'E5' AND NEW.second_party IS NULL
             AND EXISTS (SELECT 1 FROM mismatched AS one
                         JOIN mismatched AS two ON two.run_id = one.run_id AND two.load > one.load
                              AND two.signature = one.signature
                         WHERE one.run_id = NEW.id))
            OR
            (NEW.verdict IS 'BUG' AND NEW.level IS 'E5' AND NEW.second_party IS 'worker'
             AND EXISTS (SELECT 1 FROM mismatched AS one
                         JOIN mismatched AS two ON two.run_id = NEW.cites AND two.signature = one.signature
                         WHERE one.run_id = NEW.id))
            OR
            (NEW.verdict IS 'BUG' AND NEW.level IS 'E5' AND NEW.second_party IS 'person'
             AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.cites AND kind = 'network'))
        )
        -- A PASS with the same mismatch twice would be a BUG that comes and goes. Here any row counts,
        -- whatever it holds.
        AND (NEW.verdict IS NOT 'PASS'
             OR NOT EXISTS (SELECT 1 FROM evidence AS one
                            JOIN evidence AS two ON two.run_id = one.run_id AND two.kind = 'load'
                                 AND two.ending = 'mismatch' AND two.id <> one.id
                                 AND two.signature IS one.signature
                            WHERE one.run_id = NEW.id AND one.kind = 'load' AND one.ending = 'mismatch')));

    SELECT RAISE(ABORT, 'RUN_TERMINAL_REQUIRES_TIME')
    WHERE NEW.state IN ('FAILED', 'CANCELLED', 'SUPERSEDED') AND NEW.terminal_at IS NULL;

    SELECT RAISE(ABORT, 'RUN_FAILED_REQUIRES_REASON')
    WHERE NEW.state = 'FAILED' AND NEW.reason IS NULL;

    -- I6. ENV_ERROR is never the "else" branch.
    SELECT RAISE(ABORT, 'RUN_ENV_ERROR_REQUIRES_CAUSE')
    WHERE NEW.state = 'FAILED' AND NEW.reason = 'ENV_ERROR'
      AND NOT (
        NEW.verdict IS 'ENV_ERROR'
        AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.id AND kind = 'cause')
        AND (((SELECT COUNT(DISTINCT load) FROM proof WHERE run_id = NEW.id AND kind = 'load') >= 2
              AND EXISTS (SELECT 1 FROM proof WHERE run_id = NEW.id AND kind = 'load'
                          AND ending IN ('blocked', 'mismatch')))
             OR EXISTS (SELECT 1 FROM proof
                        WHERE run_id = NEW.id AND kind = 'cause' AND layer IN ('browser', 'model'))));

    SELECT RAISE(ABORT, 'RUN_VERDICT_REFUSED')
    WHERE (NEW.state = 'FAILED' AND (
              (NEW.reason IN ('CHECK_ERROR', 'HARNESS_ERROR') AND NEW.verdict IS NOT NULL)
              OR (NEW.reason IN ('UNVERIFIED', 'CLAIM_UNREVIEWED') AND NEW.verdict IS NULL)
              OR NEW.reason NOT IN ('ENV_ERROR', 'CHECK_ERROR', 'HARNESS_ERROR', 'UNVERIFIED', 'CLAIM_UNREVIEWED')
              OR NEW.level IN ('E4', 'E5') OR NEW.second_party IS NOT NULL
              OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL
              OR NEW.gate_version IS NOT NULL))
       OR (NEW.state IN ('CANCELLED', 'SUPERSEDED')
           AND (NEW.verdict IS NOT NULL OR NEW.level IS NOT NULL OR NEW.reason IS NOT NULL
                OR NEW.landed_at IS NOT NULL OR NEW.landing_note IS NOT NULL
                OR NEW.gate_version IS NOT NULL OR NEW.second_party IS NOT NULL));

    SELECT RAISE(ABORT, 'RUN_SUPERSEDED_BY_NO_SUCCESSOR')
    WHERE (NEW.state = 'SUPERSEDED') <> (NEW.superseded_by IS NOT NULL)
       OR (NEW.superseded_by IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM run WHERE id = NEW.superseded_by AND id > NEW.id
                           AND question_id = NEW.question_id));

    SELECT RAISE(ABORT, 'RUN_IS_MALFORMED')
    WHERE NEW.owner = ''
       OR NEW.verdict NOT IN ('PASS', 'BUG', 'ENV_ERROR')
       OR NEW.level NOT IN ('E0', 'E1', 'E2', 'E3', 'E4', 'E5')
       OR NEW.lease_until NOT GLOB (SELECT time FROM form)
       OR NEW.started_at NOT GLOB (SELECT time FROM form)
       OR NEW.terminal_at NOT GLOB (SELECT time FROM form)
       OR NEW.landed_at NOT GLOB (SELECT time FROM form);
END;

DROP TRIGGER IF EXISTS run_updated;
CREATE TRIGGER run_updated AFTER UPDATE OF state ON run WHEN NEW.state IS NOT OLD.state
BEGIN
    INSERT INTO event (kind, seq, run_id, question_id, at, who, from_state, to_state, why)
    VALUES ('run', NEW.moves, NEW.id, NEW.question_id, NEW.moved_at, NEW.moved_by, OLD.state, NEW.state,
            NEW.moved_why);
END;

DROP TRIGGER IF EXISTS run_delete;
CREATE TRIGGER run_delete BEFORE DELETE ON run
BEGIN
    SELECT RAISE(ABORT, 'RUN_IS_NEVER_DELETED');
END;
