-- Graded trajectories that may go into training data: no unexpected side effect and no secret in view; where keypoints
-- alone decide (rubric tasks) only from a calibrated panel or a person.
SELECT
    t.*,
    g.grade,
    g.share,
    g.rule,
    g.calibration,
    g.pass_id,
    g.judged_at
FROM trajectories AS t
JOIN trace_grades AS g USING (run_id, attempt_id)
WHERE
    g.status = 'graded'
    AND len(g.side_effects) = 0
    AND NOT t.contains_secret
    AND (
        g.calibration IS NOT NULL
        OR g.rule = 'human'
        OR (t.run_id, t.task_id) IN (SELECT (k.run_id, k.task_id) FROM tasks AS k WHERE k.contract_kind <> 'rubric')
    )
