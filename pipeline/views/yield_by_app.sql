-- Per application: what became of its trajectories. `yield` is accepted per scored trajectory (graded or undecided);
-- faults and other unscored trajectories stand beside it and in no denominator.
SELECT
    t.app_id,
    count(*) AS trajectories,
    count(*) FILTER (t.fault IS NOT NULL) AS faults,
    count(*) FILTER (t.fault IS NULL AND g.status = 'unscored') AS unscored,
    count(*) FILTER (t.fault IS NULL AND g.status IS NULL) AS unjudged,
    count(*) FILTER (g.status = 'undecided') AS undecided,
    count(*) FILTER (g.status = 'graded') AS graded,
    count(*) FILTER (g.grade = 'complete') AS complete,
    count(*) FILTER (g.grade = 'partial') AS partial,
    count(*) FILTER (g.grade = 'infeasible') AS infeasible,
    count(*) FILTER (g.grade = 'fail') AS fail,
    count(a.attempt_id) AS accepted,
    count(r.attempt_id) AS accepted_refusals,
    count(a.attempt_id) / nullif(count(*) FILTER (g.status IN ('graded', 'undecided')), 0) AS yield
FROM trajectories AS t
LEFT JOIN trace_grades AS g USING (run_id, attempt_id)
LEFT JOIN accepted AS a USING (run_id, attempt_id)
LEFT JOIN accepted_refusals AS r USING (run_id, attempt_id)
GROUP BY t.app_id
ORDER BY t.app_id
