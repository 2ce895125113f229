-- Per capability: the tasks that use it and what became of their trajectories, each of which is accepted, failed or
-- other. `failed`: graded, and something was wrong with what was done. `other`: undecided, unscored (`faults` among
-- them), not judged yet, not usable although complete, or of an infeasible task, which says nothing of a capability.
-- `last_seen`: when it was last tried, or last explored or written back. A `hole` has no accepted trajectory.
WITH
newest AS (
    SELECT
        app_id,
        platform,
        capability_id,
        arg_max(status, (coalesce(updated_at, '-infinity'::TIMESTAMPTZ), round)) AS status,
        max(updated_at) AS updated_at
    FROM capabilities
    GROUP BY app_id, platform, capability_id
),
used AS (
    SELECT DISTINCT run_id, task_id, feasible, unnest(capability_ids) AS capability_id FROM tasks
),
tried AS (
    SELECT
        u.capability_id,
        count(DISTINCT (u.run_id, u.task_id)) AS tasks,
        count(t.attempt_id) AS trajectories,
        count(t.attempt_id) FILTER (t.fault IS NOT NULL) AS faults,
        count(a.attempt_id) AS accepted,
        count(t.attempt_id) FILTER (
            u.feasible AND g.status = 'graded' AND (g.grade <> 'complete' OR len(g.side_effects) > 0)
        ) AS failed,
        max(e.finished_at) AS last_tried
    FROM used AS u
    LEFT JOIN trajectories AS t USING (run_id, task_id)
    LEFT JOIN attempts AS e USING (run_id, attempt_id)
    LEFT JOIN trace_grades AS g USING (run_id, attempt_id)
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
    coalesce(t.accepted, 0) AS accepted,
    coalesce(t.failed, 0) AS failed,
    coalesce(t.trajectories - t.accepted - t.failed, 0) AS other,
    coalesce(t.faults, 0) AS faults,
    greatest(t.last_tried, n.updated_at) AS last_seen,
    coalesce(t.accepted, 0) = 0 AS hole
FROM newest AS n
LEFT JOIN tried AS t USING (capability_id)
ORDER BY n.app_id, n.capability_id
