-- Every attempt that broke, superseded ones too: what crossed which boundary, where, and in which application.
WITH
apps AS (
    SELECT DISTINCT run_id, task_id, start.app_id AS app_id FROM tasks
)
SELECT
    t.run_id,
    k.app_id,
    t.fault.boundary AS boundary,
    t.fault.code AS code,
    t.fault.message AS message,
    t.attempt_id,
    t.trajectory_id,
    t.task_id,
    t.number,
    t.final,
    t.worker,
    t.node,
    t.started_at,
    t.finished_at
FROM attempts AS t
LEFT JOIN apps AS k USING (run_id, task_id)
WHERE t.fault IS NOT NULL
