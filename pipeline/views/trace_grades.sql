-- What is held of each trajectory: the newest verdict of a person, else the newest verdict.
SELECT
    t.trajectory_id,
    v.* EXCLUDE (target, step_index, candidate_index),
    p.kind AS pass_kind,
    p.judged_at
FROM verdicts AS v
JOIN trajectories AS t USING (run_id, attempt_id)
LEFT JOIN passes AS p USING (run_id, pass_id)
WHERE v.target = 'trace' AND v.candidate_index IS NULL
QUALIFY row_number() OVER (
    PARTITION BY v.attempt_id
    ORDER BY v.rule = 'human' DESC, p.judged_at DESC NULLS LAST, v.pass_id
) = 1
