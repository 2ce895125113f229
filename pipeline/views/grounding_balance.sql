-- Labelled places by kind of instruction, family, platform and languages, with how much of the picture they take up.
SELECT
    run_id,
    split,
    kind,
    family,
    platform,
    language,
    instruction_language,
    count(*) AS row_count,
    count(DISTINCT screen_id) AS screens,
    round(100 * median(
        (target.box.right - target.box.left) * (target.box.bottom - target.box.top) / (width * height)
    ), 4) AS median_area_percent
FROM grounding
GROUP BY ALL
ORDER BY ALL
