-- What a later pass changed: each verdict that differs from the one of the pass before it on the same target.
WITH
-- Most attempts were judged once, and have nothing to compare.
repeated AS (
    SELECT attempt_id FROM verdicts WHERE candidate_index IS NULL
    GROUP BY attempt_id HAVING min(pass_id) < max(pass_id)
),
ordered AS (
    SELECT
        v.run_id,
        v.attempt_id,
        v.target,
        v.step_index,
        v.pass_id,
        v.status,
        v.grade,
        v.rule,
        v.reason,
        lag(struct_pack(pass_id := v.pass_id, status := v.status, grade := v.grade, rule := v.rule)) OVER (
            PARTITION BY v.run_id, v.attempt_id, v.target, v.step_index
            ORDER BY p.judged_at NULLS FIRST, v.pass_id
        ) AS before
    FROM verdicts AS v
    SEMI JOIN repeated USING (attempt_id)
    LEFT JOIN passes AS p USING (run_id, pass_id)
    WHERE v.candidate_index IS NULL
)
SELECT * FROM ordered
WHERE before IS NOT NULL AND (before.status, before.grade) IS DISTINCT FROM (status, grade)
