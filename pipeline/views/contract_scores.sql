-- How far the contract held for each judged attempt, from the segment on at which the attempt began: what was done before
-- is not its merit. `contract_score` is the share of checks that passed, `segment_score` of segments all of whose did.
WITH
named AS (
    SELECT run_id, task_id, [s.name FOR s IN any_value(segments)] AS segments
    FROM tasks
    GROUP BY ALL
),
own AS (
    SELECT
        c.run_id,
        c.pass_id,
        c.attempt_id,
        c.segment,
        count(*) AS asked,
        count(*) FILTER (c.state = 'passed') AS passed
    FROM checks AS c
    LEFT JOIN attempts AS a USING (run_id, attempt_id)
    LEFT JOIN named AS k ON k.run_id = a.run_id AND k.task_id = a.task_id
    WHERE coalesce(list_position(k.segments, c.segment) > a.start_segment, TRUE)
    GROUP BY ALL
)
SELECT
    run_id,
    pass_id,
    attempt_id,
    sum(passed) / sum(asked) AS contract_score,
    avg((passed = asked)::INTEGER) FILTER (segment <> 'absence') AS segment_score
FROM own
GROUP BY ALL
