"""Every metric of `/metrics`: its name, its meaning and its labels.

Names follow https://prometheus.io/docs/practices/naming/; the labels have few values,
and none of them names a person or a repository.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

RUN_BUCKETS_S: Final = (5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200)
WAIT_BUCKETS_S: Final = (0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600)
REQUEST_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
CALL_BUCKETS_S: Final = (0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 600)


class MetricKind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class Metric:
    """One metric; the buckets of a histogram are in seconds."""

    name: str
    kind: MetricKind
    about: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


def _metric(
    kind: MetricKind, spelled: str, about: str, buckets: tuple[float, ...] = ()
) -> Metric:
    """Read a name with its labels as Prometheus writes them: `jobs{state,role}`."""
    name, _, labels = spelled.removesuffix("}").partition("{")
    names = tuple(labels.split(",")) if labels else ()
    return Metric(f"patchwright_{name}", kind, about, names, buckets)


_gauge, _counter, _histogram = (
    partial(_metric, kind)
    for kind in (MetricKind.GAUGE, MetricKind.COUNTER, MetricKind.HISTOGRAM)
)

SERVICE_METRICS: Final = (
    DATABASE_UP := _gauge(
        "database_up",
        "1 if the database answered; otherwise the other metrics of this table are "
        "missing.",
    ),
    JOBS := _gauge("jobs{state}", "Jobs that have not ended."),
    LOST_JOBS := _gauge(
        "jobs_lost",
        "Jobs whose worker has sent no heartbeat for longer than its lease.",
    ),
    OLDEST_JOB := _gauge(
        "oldest_waiting_job_seconds",
        "How long the oldest job has waited for a worker; 0 if none waits.",
    ),
    RUNS := _counter(
        "runs_total{service,trigger,outcome,proof}",
        "Runs that have ended, by service and kind of their trigger.",
    ),
    RUN_SECONDS := _histogram(
        "run_duration_seconds{outcome}", "How long runs have worked.", RUN_BUCKETS_S
    ),
    WAIT_SECONDS := _histogram(
        "run_wait_seconds",
        "How long requests have waited until a worker started.",
        WAIT_BUCKETS_S,
    ),
    SPENT := _counter(
        "spent_usd_total", "Cost of all model calls whose price is known."
    ),
    SPENT_TODAY := _gauge(
        "spent_today_usd", "Cost of model calls since midnight, UTC."
    ),
    RESERVED_TODAY := _gauge(
        "reserved_today_usd",
        "Money reserved since midnight for model calls that have not ended.",
    ),
    SPEND_ALERTS := _gauge(
        "spend_alerts_today{scope,percent}",
        "Ceilings of the day, in UTC, that are used up to 50, 80 or 100 percent: of "
        "a person, a repository or everybody.",
    ),
    TOKENS := _counter(
        "tokens_total{direction}",
        "Tokens of the runs that have ended; `cached` are among `in`.",
    ),
    TOKENS_TODAY := _gauge(
        "tokens_today{direction}",
        "Tokens of the runs that have ended since midnight, UTC.",
    ),
    DELIVERIES := _counter(
        "deliveries_total{service,verdict}",
        "Deliveries that were verified and stored, by their result.",
    ),
    MISSED := _gauge(
        "missed_deliveries{service}",
        "Deliveries that a service could not send and that have not arrived since.",
    ),
    PENDING_EFFECTS := _gauge(
        "effects_pending",
        "Effects that are not published yet: pushes, pull requests, messages.",
    ),
    OLDEST_EFFECT := _gauge(
        "oldest_pending_effect_seconds",
        "How long ago the oldest pending effect was planned; 0 if there is none.",
    ),
    ABANDONED_EFFECTS := _counter(
        "effects_abandoned_total",
        "Effects that failed again and again and were given up.",
    ),
    PROCESSES := _gauge(
        "processes{role,version,ready}",
        "Processes that are alive; `ready` is what each process reports.",
    ),
)
PROCESS_METRICS: Final = (
    HTTP_REQUESTS := _counter(
        "http_requests_total{method,route,status}",
        "Requests to the web side, by the pattern of their path.",
    ),
    HTTP_SECONDS := _histogram(
        "http_request_duration_seconds{route}",
        "How long the requests took to answer.",
        REQUEST_BUCKETS_S,
    ),
    INTAKE_WAITING := _gauge(
        "intake_waiting", "Deliveries that were verified and wait to be stored."
    ),
    MODEL_CALLS := _counter(
        "model_calls_total{model,outcome}",
        "Model calls with all their retries; `outcome` is the reason if a call failed.",
    ),
    MODEL_SECONDS := _histogram(
        "model_call_duration_seconds{model}",
        "How long the model calls took.",
        CALL_BUCKETS_S,
    ),
    SANDBOX_STARTS := _counter(
        "sandbox_starts_total{kind,outcome}",
        "Starts of sandboxes; `outcome` is the reason if a start failed.",
    ),
    SANDBOX_SECONDS := _histogram(
        "sandbox_start_duration_seconds{kind}",
        "How long the starts took.",
        WAIT_BUCKETS_S,
    ),
)
