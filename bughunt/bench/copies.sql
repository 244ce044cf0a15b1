-- How the benchmark fills a tower: what went through the gates once is stored many times over, with the
-- guards taken out meanwhile. RUNs keep their Qs; numbers go on where the last copies ended.

-- name: runs
WITH RECURSIVE series (n) AS (SELECT CAST(:first AS INTEGER) UNION ALL SELECT n + 1 FROM series WHERE n < :last)
INSERT INTO run (id, question_id, project, agent, rules_version, build, created_at, state, owner, lease_until,
                 started_at, terminal_at, reason, verdict, level, landed_at, landing_note, gate_version,
                 moves, moved_at, moved_by, moved_why)
SELECT id + n * :runs, question_id, project, agent, rules_version, build, created_at, state, owner, lease_until,
       started_at, terminal_at, reason, verdict, level, landed_at, landing_note, gate_version,
       moves, moved_at, moved_by, moved_why
FROM run CROSS JOIN series WHERE id <= :runs;

-- name: evidence
WITH RECURSIVE series (n) AS (SELECT CAST(:first AS INTEGER) UNION ALL SELECT n + 1 FROM series WHERE n < :last)
INSERT INTO evidence (id, run_id, seq, kind, load, ending, signature, cause, layer, name, media_type, digest,
                      size, at, body)
SELECT id + n * :evidence, run_id + n * :runs, seq, kind, load, ending, signature, cause, layer, name, media_type,
       digest, size, at, body
FROM evidence CROSS JOIN series WHERE id <= :evidence;

-- name: events
WITH RECURSIVE series (n) AS (SELECT CAST(:first AS INTEGER) UNION ALL SELECT n + 1 FROM series WHERE n < :last)
INSERT INTO event (id, kind, seq, run_id, question_id, at, who, from_state, to_state, why)
SELECT id + n * :events, kind, seq, run_id + n * :runs, question_id, at, who, from_state, to_state, why
FROM event CROSS JOIN series WHERE id <= :events AND kind = 'run';
