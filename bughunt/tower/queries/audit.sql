-- What `bughunt tower audit` counts. Each number is counted, even where a constraint should make it zero:
-- an audit that trusts the constraints would say nothing of a database whose constraints are gone.

-- name: totals
SELECT 'projects' AS name, (SELECT COUNT(*) FROM (SELECT project FROM question UNION SELECT project FROM receipt) AS p)
    AS rows
UNION ALL SELECT 'receipts', (SELECT COUNT(*) FROM receipt)
UNION ALL SELECT 'questions', (SELECT COUNT(*) FROM question)
UNION ALL SELECT 'drills', (SELECT COUNT(*) FROM question WHERE drill = 1)
UNION ALL SELECT 'runs', (SELECT COUNT(*) FROM run)
UNION ALL SELECT 'evidence', (SELECT COUNT(*) FROM evidence)
UNION ALL SELECT 'tombstones', (SELECT COUNT(*) FROM tombstone)
UNION ALL SELECT 'relations', (SELECT COUNT(*) FROM relation)
UNION ALL SELECT 'attachments', (SELECT COUNT(*) FROM attachment)
UNION ALL SELECT 'events', (SELECT COUNT(*) FROM event);

-- name: states
SELECT 'question' AS kind, state, COUNT(*) AS rows FROM question GROUP BY state
UNION ALL SELECT 'receipt', state, COUNT(*) FROM receipt GROUP BY state;

-- name: runs
-- All that is counted of the RUNs' own columns, in one way through them.
SELECT state, verdict, level, gate_version, COUNT(*) AS rows,
       SUM(CASE WHEN terminal_at IS NULL AND state IN ('DONE', 'FAILED', 'CANCELLED', 'SUPERSEDED')
           THEN 1 ELSE 0 END) AS timeless
FROM run GROUP BY state, verdict, level, gate_version;

-- name: duplicates
-- How many rows there are beyond the first of each key.
SELECT 'receipt' AS name, COALESCE(SUM(surplus), 0) AS rows
FROM (SELECT COUNT(*) - 1 AS surplus FROM receipt GROUP BY project, idempotency_key HAVING COUNT(*) > 1) AS r
UNION ALL
SELECT 'question', COALESCE(SUM(surplus), 0)
FROM (SELECT COUNT(*) - 1 AS surplus FROM question
      GROUP BY project, charter, target, plan_fingerprint HAVING COUNT(*) > 1) AS q
UNION ALL
SELECT 'run', COALESCE(SUM(surplus), 0)
FROM (SELECT COUNT(*) - 1 AS surplus FROM run WHERE idempotency_key IS NOT NULL
      GROUP BY project, idempotency_key HAVING COUNT(*) > 1) AS x;

-- name: orphans
SELECT 'run_without_question' AS name, (
    SELECT COUNT(*) FROM run
    WHERE NOT EXISTS (SELECT 1 FROM question WHERE question.id = run.question_id)) AS rows
UNION ALL SELECT 'evidence_without_run', (
    SELECT COUNT(*) FROM (SELECT run_id FROM evidence GROUP BY run_id) AS e
    WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.id = e.run_id))
UNION ALL SELECT 'relation_without_receipt', (
    SELECT COUNT(*) FROM relation
    WHERE NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.id = relation.receipt_id))
UNION ALL SELECT 'relation_without_question', (
    SELECT COUNT(*) FROM relation
    WHERE NOT EXISTS (SELECT 1 FROM question WHERE question.id = relation.question_id))
UNION ALL SELECT 'attachment_without_receipt', (
    SELECT COUNT(*) FROM attachment
    WHERE NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.id = attachment.receipt_id))
UNION ALL SELECT 'tombstone_without_evidence', (
    SELECT COUNT(*) FROM tombstone
    WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.id = tombstone.evidence_id))
UNION ALL SELECT 'successor_without_run', (
    SELECT COUNT(*) FROM run AS old WHERE old.superseded_by IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = old.superseded_by))
UNION ALL SELECT 'applied_without_question', (
    SELECT COUNT(*) FROM receipt WHERE state = 'APPLIED'
    AND NOT EXISTS (SELECT 1 FROM relation WHERE relation.receipt_id = receipt.id))
UNION ALL SELECT 'answered_without_done_run', (
    SELECT COUNT(*) FROM question WHERE state = 'ANSWERED'
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.question_id = question.id AND run.state = 'DONE'))
UNION ALL SELECT 'superseded_without_successor', (
    SELECT COUNT(*) FROM run WHERE state = 'SUPERSEDED' AND superseded_by IS NULL);

-- name: references
-- How many references there are of which those above could be orphans.
SELECT (SELECT COUNT(*) FROM run) + (SELECT COUNT(*) FROM relation) AS rows;

-- name: idle_questions
-- No orphan: somebody asked, and nobody has tried yet.
SELECT COUNT(*) AS rows FROM question
WHERE state <> 'CLOSED' AND NOT EXISTS (SELECT 1 FROM run WHERE run.question_id = question.id);

-- name: settled_without_time
SELECT COUNT(*) AS rows FROM receipt WHERE state IN ('APPLIED', 'IGNORED') AND settled_at IS NULL;

-- name: unsettled
SELECT COUNT(*) AS rows, MIN(received_at) AS oldest FROM receipt WHERE state NOT IN ('APPLIED', 'IGNORED');

-- name: retried
-- `settled`: in the last days, after more than one attempt. `needed`: those, and what still waits for one.
SELECT COALESCE(SUM(CASE WHEN settled_at >= :since AND attempts > 1 THEN 1 ELSE 0 END), 0) AS settled,
       COALESCE(SUM(CASE WHEN (settled_at >= :since AND attempts > 1)
                           OR (settled_at IS NULL AND failures > 0) THEN 1 ELSE 0 END), 0) AS needed
FROM receipt;

-- name: unbacked
-- DONE whose columns or evidence rows the present gate would refuse, by the gate that let it through.
SELECT gate_version, COUNT(*) AS rows, MIN(id) AS first FROM run
WHERE state = 'DONE'
  AND NOT (
    terminal_at IS NOT NULL AND landed_at IS NOT NULL AND reason IS NULL AND gate_version IS NOT NULL
    AND landing_note IS NOT NULL AND TRIM(landing_note) <> '' AND verdict IS NOT NULL AND level IS NOT NULL
    AND EXISTS (SELECT 1 FROM evidence WHERE evidence.run_id = run.id AND evidence.kind = 'judgement'
                AND evidence.size > 0)
    AND CASE
        WHEN verdict = 'PASS' AND level IN ('E4', 'E5') AND second_party IS NULL THEN
            (SELECT COUNT(*) FROM held WHERE held.run_id = run.id) >= CASE level WHEN 'E5' THEN 2 ELSE 1 END
        WHEN verdict = 'PASS' AND level = 'E5' AND second_party = 'worker' THEN
            EXISTS (SELECT 1 FROM held WHERE held.run_id = run.id)
            AND EXISTS (SELECT 1 FROM held WHERE held.run_id = run.cites)
        WHEN verdict = 'PASS' AND level = 'E5' AND second_party = 'person' THEN
            EXISTS (SELECT 1 FROM held WHERE held.run_id = run.cites)
        WHEN verdict = 'BUG' AND level = 'E5' AND second_party IS NULL THEN
            EXISTS (SELECT 1 FROM mismatched AS one
                    JOIN mismatched AS two ON two.run_id = one.run_id AND two.load > one.load
                         AND two.signature = one.signature
                    WHERE one.run_id = run.id)
        WHEN verdict = 'BUG' AND level = 'E5' AND second_party = 'worker' THEN
            EXISTS (SELECT 1 FROM mismatched AS one
                    JOIN mismatched AS two ON two.run_id = run.cites AND two.signature = one.signature
                    WHERE one.run_id = run.id)
        WHEN verdict = 'BUG' AND level = 'E5' AND second_party = 'person' THEN
            EXISTS (SELECT 1 FROM proof WHERE proof.run_id = run.cites AND proof.kind = 'network')
        ELSE 1 = 0 END)
GROUP BY gate_version;
