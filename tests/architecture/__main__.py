"""Print how the product's files are cut: `python -m tests.architecture`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from tests.architecture.figures import product
from tests.architecture.limits import LIMITS, MENTION_LIMITS
from tests.architecture.mention import run_mention


def table() -> str:
    """Return what is measured, with goals and limits, as a table in Markdown."""
    measured = product()
    rows = [
        (limit.title, limit.measure(measured), limit.goal, limit.most)
        for limit in LIMITS
    ]
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    with TemporaryDirectory() as folder:
        executed = run_mention(Path(folder))
    counts = (len(executed.before_model), len(executed.files))
    rows += [
        (title, count, goal, most)
        for count, (title, (goal, most)) in zip(
            counts, MENTION_LIMITS.items(), strict=True
        )
    ]
    lines = [
        f"| {title} | {count:,} | {goal} | {most:,} |"
        for title, count, goal, most in rows
    ]
    return "\n".join(
        ["| figure | measured | goal | limit |", "|---|---|---|---|", *lines]
    )


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
