-- Per capability: tasks that use it, their trajectories, and how many were accepted. A `hole` is a capability without
-- an accepted trajectory.
WITH
newest AS (
    SELECT app_id, platform, capability_id, arg_max(status, round) AS status
    FROM capabilities
    GROUP BY ALL
),
used AS (
    SELECT DISTINCT run_id, task_id, unnest(capability_ids) AS capability_id FROM tasks
),
tried AS (
    SELECT
        u.capability_id,
        count(DISTINCT (u.run_id, u.task_id)) AS tasks,
        count(t.attempt_id) AS trajectories,
        count(t.attempt_id) FILTER (t.fault IS NOT NULL) AS faults,
        count(a.attempt_id) AS accepted
    FROM used AS u
    LEFT JOIN trajectories AS t USING (run_id, task_id)
    LEFT JOIN accepted AS a USING (run_id, attempt_id)
    GROUP BY u.capability_id
)
SELECT
    n.app_id,
    n.platform,
    n.capability_id,
    n.status,
    coalesce(t.tasks, 0) AS tasks,
    coalesce(t.trajectories, 0) AS trajectories,
    coalesce(t.faults, 0) AS faults,
    coalesce(t.accepted, 0) AS accepted,
    coalesce(t.accepted, 0) = 0 AS hole
FROM newest AS n
LEFT JOIN tried AS t USING (capability_id)
ORDER BY n.app_id, n.capability_id
