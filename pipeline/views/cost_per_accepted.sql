-- Per application: seconds and dollars of everything that was tried, and per accepted trajectory. Seconds are those of
-- all attempts, also superseded ones; dollars those of all model calls made for them, acting and judging.
WITH
apps AS (
    SELECT DISTINCT run_id, task_id, start.app_id AS app_id FROM tasks
),
calls AS (
    SELECT run_id, attempt_id, sum(cost_usd) AS cost_usd FROM model_calls GROUP BY ALL
),
spent AS (
    SELECT
        k.app_id,
        count(*) AS attempts,
        sum(epoch(t.finished_at - t.started_at)) AS seconds,
        coalesce(sum(c.cost_usd), 0) AS cost_usd
    FROM attempts AS t
    LEFT JOIN apps AS k USING (run_id, task_id)
    LEFT JOIN calls AS c USING (run_id, attempt_id)
    GROUP BY k.app_id
),
gained AS (
    SELECT app_id, count(*) AS accepted FROM accepted GROUP BY app_id
)
SELECT
    s.app_id,
    s.attempts,
    coalesce(g.accepted, 0) AS accepted,
    s.seconds,
    s.cost_usd,
    s.seconds / g.accepted AS seconds_per_accepted,
    s.cost_usd / g.accepted AS usd_per_accepted
FROM spent AS s
LEFT JOIN gained AS g USING (app_id)
ORDER BY s.app_id
