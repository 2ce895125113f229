-- What is held of each trajectory: the newest verdict of a person, else the newest verdict.
WITH
judged AS (
    SELECT
        t.trajectory_id,
        v.* EXCLUDE (target, step_index, candidate_index),
        p.kind AS pass_kind,
        p.judged_at
    FROM verdicts AS v
    JOIN trajectories AS t USING (run_id, attempt_id)
    LEFT JOIN passes AS p USING (run_id, pass_id)
    WHERE v.target = 'trace' AND v.candidate_index IS NULL
),
-- Ranking is the costly part, and most attempts were judged once: only where verdicts compete are they ranked.
contested AS (
    SELECT attempt_id FROM judged GROUP BY attempt_id HAVING count(*) > 1
)
SELECT * FROM judged ANTI JOIN contested USING (attempt_id)
UNION ALL
SELECT * FROM judged SEMI JOIN contested USING (attempt_id)
QUALIFY row_number() OVER (
    PARTITION BY attempt_id
    ORDER BY rule = 'human' DESC, judged_at DESC NULLS LAST, pass_id
) = 1
