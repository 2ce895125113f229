-- One row per step of a final attempt, as step-level training reads it: prompt, pictures before and after, action, and
-- the parts of a reward side by side, never summed. Steps of an earlier attempt that were made again are no rows.
WITH
spec AS (
    SELECT
        run_id,
        task_id,
        any_value(instruction) AS instruction,
        any_value(language) AS language,
        any_value(domain) AS domain,
        any_value(split) AS split
    FROM tasks
    GROUP BY ALL
),
-- Everything that is said once per attempt is joined before the steps are.
episode AS (
    SELECT
        t.run_id,
        t.trajectory_id,
        t.attempt_id,
        t.task_id,
        t.app_id,
        t.platform,
        t.policy,
        k.domain,
        k.split,
        k.language,
        k.instruction,
        g.status AS trace_status,
        g.grade AS trace_grade,
        g.share AS trace_share,
        c.contract_score,
        c.segment_score,
        a.attempt_id IS NOT NULL AS accepted
    FROM trajectories AS t
    LEFT JOIN spec AS k USING (run_id, task_id)
    LEFT JOIN trace_grades AS g USING (run_id, attempt_id)
    LEFT JOIN contract_scores AS c USING (run_id, attempt_id, pass_id)
    LEFT JOIN accepted AS a USING (run_id, attempt_id)
)
SELECT
    e.*,
    s.step_index,
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
    g.share AS step_share
FROM steps AS s
JOIN episode AS e USING (run_id, attempt_id)
LEFT JOIN observations AS before
    ON before.run_id = s.run_id AND before.attempt_id = s.attempt_id AND before.observation_index = s.step_index
LEFT JOIN observations AS after
    ON after.run_id = s.run_id AND after.attempt_id = s.attempt_id AND after.observation_index = s.step_index + 1
LEFT JOIN step_grades AS g
    ON g.run_id = s.run_id AND g.attempt_id = s.attempt_id AND g.step_index = s.step_index
WHERE NOT s.replayed
