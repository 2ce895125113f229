-- Puzzles of the application `puzzles` by kind: how many were tried, and the part of them that was solved at the first
-- try (pass@1). Trajectories with a fault, and those nobody has scored, are in no denominator; they stand beside it.
SELECT
    t.run_id,
    split_part(k.capability_ids[1], '.', 2) AS kind,
    count(DISTINCT k.template_id) AS types,
    count(*) FILTER (t.fault IS NULL AND g.status IN ('graded', 'undecided')) AS tried,
    count(*) FILTER (g.grade = 'complete') AS solved,
    solved / nullif(tried, 0) AS pass_at_1,
    count(*) FILTER (t.fault IS NOT NULL OR g.status IS DISTINCT FROM 'graded' AND g.status IS DISTINCT FROM 'undecided')
        AS unscored
FROM trajectories AS t
JOIN tasks AS k USING (run_id, task_id)
LEFT JOIN trace_grades AS g USING (run_id, attempt_id)
WHERE k.domain = 'CAPTCHA'
GROUP BY ALL
ORDER BY ALL
