"""Write `docs/metrics.md`, the page about all figures."""

from collections.abc import Iterable
from typing import Final

from patchwright.workers.ops.catalogue import PROCESS_METRICS, SERVICE_METRICS, Metric

_HEAD: Final = "| name | kind | labels | meaning |\n|---|---|---|---|"
_ABOUT: Final = """\
# Metrics

`GET /metrics` shows them in Prometheus's format; `docs/operations.md` says where, and
who may read them. Times are in seconds, money is in US dollars. No label names a person
or a repository.
"""
_SHARED: Final = """\
## Of the whole service

Shown by `web` and `all` processes. They are read from the database, so they count all
processes, also across restarts. Each process shows the same values: use `max`, not
`sum`. They are at most five seconds old. Runs that ended before the upgrade to this
version are not counted.
"""
_OWN: Final = """\
## Of each process

Each process shows its own values since its start: use `sum`. Each process also shows
the `process_...` metrics of Prometheus's client: memory, processor time, open files.
"""


def page() -> str:
    parts = (_ABOUT, _SHARED, _table(SERVICE_METRICS), _OWN, _table(PROCESS_METRICS))
    return "\n".join(parts)


def _table(figures: Iterable[Metric]) -> str:
    return "\n".join([_HEAD, *map(_row, figures)]) + "\n"


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels) or "none"
    return f"| `{metric.name}` | {metric.kind} | {labels} | {metric.about} |"
