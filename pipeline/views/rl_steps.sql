-- One row per step of a final attempt, as step-level training reads it: prompt, pictures before and after, action, and
-- the parts of a reward side by side, never summed.
WITH
spec AS (
    SELECT run_id, task_id, any_value(instruction) AS instruction, any_value(language) AS language,
        any_value(domain) AS domain, any_value(split) AS split
    FROM tasks
    GROUP BY ALL
),
contract AS (
    SELECT run_id, pass_id, attempt_id, avg((state = 'passed')::INTEGER) AS contract_score
    FROM checks
    GROUP BY ALL
)
SELECT
    s.run_id,
    t.trajectory_id,
    s.attempt_id,
    s.step_index,
    t.task_id,
    t.app_id,
    t.platform,
    t.policy,
    k.domain,
    k.split,
    k.language,
    k.instruction,
    s.thought,
    s.action,
    s.reply,
    s.dialect,
    s.status,
    s.action_error,
    before.frame_sha256,
    after.frame_sha256 AS next_frame_sha256,
    g.status AS step_status,
    g.grade AS step_grade,
    g.share AS step_share,
    e.status AS trace_status,
    e.grade AS trace_grade,
    e.share AS trace_share,
    c.contract_score,
    a.attempt_id IS NOT NULL AS accepted
FROM steps AS s
JOIN trajectories AS t USING (run_id, attempt_id)
LEFT JOIN spec AS k USING (run_id, task_id)
LEFT JOIN observations AS before
    ON before.run_id = s.run_id AND before.attempt_id = s.attempt_id AND before.observation_index = s.step_index
LEFT JOIN observations AS after
    ON after.run_id = s.run_id AND after.attempt_id = s.attempt_id AND after.observation_index = s.step_index + 1
LEFT JOIN step_grades AS g
    ON g.run_id = s.run_id AND g.attempt_id = s.attempt_id AND g.step_index = s.step_index
LEFT JOIN trace_grades AS e ON e.run_id = s.run_id AND e.attempt_id = s.attempt_id
LEFT JOIN contract AS c ON c.run_id = s.run_id AND c.pass_id = e.pass_id AND c.attempt_id = s.attempt_id
LEFT JOIN accepted AS a ON a.run_id = s.run_id AND a.attempt_id = s.attempt_id
