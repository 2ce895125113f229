-- What is held of each step's own action in final attempts: the newest verdict of a person, else the newest verdict.
WITH
judged AS (
    SELECT
        t.trajectory_id,
        v.* EXCLUDE (target, candidate_index, segments_passed, side_effects, failure_category, process_score),
        p.kind AS pass_kind,
        p.judged_at
    FROM verdicts AS v
    JOIN trajectories AS t USING (run_id, attempt_id)
    LEFT JOIN passes AS p USING (run_id, pass_id)
    WHERE v.target = 'step' AND v.candidate_index IS NULL
),
-- Ranking is the costly part, and a pass gives a target one verdict: only what several passes judged has to be ranked.
contested AS (
    SELECT attempt_id FROM judged GROUP BY attempt_id HAVING min(pass_id) < max(pass_id)
)
SELECT * FROM judged ANTI JOIN contested USING (attempt_id)
UNION ALL
SELECT * FROM judged SEMI JOIN contested USING (attempt_id)
QUALIFY row_number() OVER (
    PARTITION BY attempt_id, step_index
    ORDER BY rule = 'human' DESC, judged_at DESC NULLS LAST, pass_id
) = 1
