"""The console command `pathproof`: every command under its name."""

from __future__ import annotations

import sys

from pipeline.commands import (
    building,
    calibrating,
    catalogs,
    covering,
    data,
    exploring,
    exporting,
    generating,
    machine,
    proving,
    reviewing,
    running,
    tasks,
)
from pipeline.commands.shell import group, run

app = group("Trajectories with proof: GUI-agent data, collected and verified.")
app.command(epilog=running.COLLECT_EXAMPLES)(running.collect)
app.command(epilog=running.RESUME_EXAMPLES)(running.resume)
app.command(epilog=running.JUDGE_EXAMPLES)(running.judge)
app.command(epilog=reviewing.REVIEW_EXAMPLES)(reviewing.review)
app.command(epilog=calibrating.CALIBRATE_EXAMPLES)(calibrating.calibrate)
app.command(epilog=data.CHECK_EXAMPLES)(data.check)
app.command(epilog=data.QUERY_EXAMPLES)(data.query)
app.command(epilog=data.COMPACT_EXAMPLES)(data.compact)
app.command(epilog=data.REPORT_EXAMPLES)(data.report)
app.command(epilog=exporting.EXPORT_EXAMPLES)(exporting.export)
app.command(epilog=exporting.REDACT_EXAMPLES)(exporting.redact)
catalogs.catalog.command("build", epilog=building.BUILD_EXAMPLES)(building.build_catalogs)
catalogs.catalog.command(epilog=covering.COVERAGE_EXAMPLES)(covering.coverage)
catalogs.catalog.command(epilog=exploring.EXPLORE_EXAMPLES)(exploring.explore)
app.add_typer(catalogs.catalog, name="catalog")
tasks.tasks.command(epilog=proving.SELFTEST_EXAMPLES)(proving.selftest)
tasks.tasks.command(epilog=proving.REVALIDATE_EXAMPLES)(proving.revalidate)
tasks.tasks.command("generate", epilog=generating.GENERATE_EXAMPLES)(generating.generate_tasks)
app.add_typer(tasks.tasks, name="tasks")
app.add_typer(machine.apps, name="apps")
app.command(epilog=machine.DOCTOR_EXAMPLES)(machine.doctor)


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(app, sys.argv[1:] or ["--help"]))


if __name__ == "__main__":
    main()
