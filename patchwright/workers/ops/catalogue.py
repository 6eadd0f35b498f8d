"""Every figure that `/metrics` shows: its name, what it means and by what it is told.

Names follow https://prometheus.io/docs/practices/naming/; the labels have few values,
and none of them names a person or a repository.
"""

from dataclasses import dataclass
from enum import StrEnum
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


DATABASE_UP: Final = Metric(
    "patchwright_database_up",
    MetricKind.GAUGE,
    "1 where the database answered; without it the figures of this table are missing.",
)
JOBS: Final = Metric(
    "patchwright_jobs", MetricKind.GAUGE, "Jobs that have not ended.", ("state",)
)
LOST_JOBS: Final = Metric(
    "patchwright_jobs_lost",
    MetricKind.GAUGE,
    "Jobs whose worker has shown no sign of life for longer than its lease.",
)
OLDEST_JOB: Final = Metric(
    "patchwright_oldest_waiting_job_seconds",
    MetricKind.GAUGE,
    "How long the oldest job waits for a worker; 0 where none does.",
)
RUNS: Final = Metric(
    "patchwright_runs_total",
    MetricKind.COUNTER,
    "Runs that have ended, by the service and the kind of what asked for them.",
    ("service", "trigger", "outcome", "proof"),
)
RUN_SECONDS: Final = Metric(
    "patchwright_run_duration_seconds",
    MetricKind.HISTOGRAM,
    "How long runs have worked.",
    ("outcome",),
    RUN_BUCKETS_S,
)
WAIT_SECONDS: Final = Metric(
    "patchwright_run_wait_seconds",
    MetricKind.HISTOGRAM,
    "How long requests have waited until a worker began.",
    (),
    WAIT_BUCKETS_S,
)
SPENT: Final = Metric(
    "patchwright_spent_usd_total",
    MetricKind.COUNTER,
    "What model calls have cost, as far as prices are known.",
)
SPENT_TODAY: Final = Metric(
    "patchwright_spent_today_usd",
    MetricKind.GAUGE,
    "What they have cost since midnight, UTC.",
)
RESERVED_TODAY: Final = Metric(
    "patchwright_reserved_today_usd",
    MetricKind.GAUGE,
    "What is set aside since midnight for calls that have not been settled.",
)
TOKENS: Final = Metric(
    "patchwright_tokens_total",
    MetricKind.COUNTER,
    "Tokens of the runs that have ended; `cached` are among `in`.",
    ("direction",),
)
TOKENS_TODAY: Final = Metric(
    "patchwright_tokens_today",
    MetricKind.GAUGE,
    "Tokens of the runs that have ended since midnight, UTC.",
    ("direction",),
)
DELIVERIES: Final = Metric(
    "patchwright_deliveries_total",
    MetricKind.COUNTER,
    "Deliveries that were verified and stored, by what became of them.",
    ("service", "verdict"),
)
MISSED: Final = Metric(
    "patchwright_missed_deliveries",
    MetricKind.GAUGE,
    "Deliveries that a service could not bring and that have not come since.",
    ("service",),
)
PENDING_EFFECTS: Final = Metric(
    "patchwright_effects_pending",
    MetricKind.GAUGE,
    "Steps still to be made visible outside: pushes, pull requests, messages.",
)
OLDEST_EFFECT: Final = Metric(
    "patchwright_oldest_pending_effect_seconds",
    MetricKind.GAUGE,
    "How long ago the oldest of them was planned; 0 where there is none.",
)
ABANDONED_EFFECTS: Final = Metric(
    "patchwright_effects_abandoned_total",
    MetricKind.COUNTER,
    "Steps that never worked and were given up.",
)
PROCESSES: Final = Metric(
    "patchwright_processes",
    MetricKind.GAUGE,
    "Processes that are alive; `ready` is what they say of themselves.",
    ("role", "version", "ready"),
)

HTTP_REQUESTS: Final = Metric(
    "patchwright_http_requests_total",
    MetricKind.COUNTER,
    "Requests to the web side, by the pattern of their path.",
    ("method", "route", "status"),
)
HTTP_SECONDS: Final = Metric(
    "patchwright_http_request_duration_seconds",
    MetricKind.HISTOGRAM,
    "How long they took to answer.",
    ("route",),
    REQUEST_BUCKETS_S,
)
INTAKE_WAITING: Final = Metric(
    "patchwright_intake_waiting",
    MetricKind.GAUGE,
    "Deliveries that were verified and wait to be stored.",
)
MODEL_CALLS: Final = Metric(
    "patchwright_model_calls_total",
    MetricKind.COUNTER,
    "Model calls with all their retries, by the reason where one has failed.",
    ("model", "outcome"),
)
MODEL_SECONDS: Final = Metric(
    "patchwright_model_call_duration_seconds",
    MetricKind.HISTOGRAM,
    "How long they took.",
    ("model",),
    CALL_BUCKETS_S,
)
SANDBOX_STARTS: Final = Metric(
    "patchwright_sandbox_starts_total",
    MetricKind.COUNTER,
    "Sandboxes that were started, by the reason where one was not.",
    ("kind", "outcome"),
)
SANDBOX_SECONDS: Final = Metric(
    "patchwright_sandbox_start_duration_seconds",
    MetricKind.HISTOGRAM,
    "How long it took to start them.",
    ("kind",),
    WAIT_BUCKETS_S,
)

SERVICE_METRICS: Final = (
    DATABASE_UP,
    JOBS,
    LOST_JOBS,
    OLDEST_JOB,
    RUNS,
    RUN_SECONDS,
    WAIT_SECONDS,
    SPENT,
    SPENT_TODAY,
    RESERVED_TODAY,
    TOKENS,
    TOKENS_TODAY,
    DELIVERIES,
    MISSED,
    PENDING_EFFECTS,
    OLDEST_EFFECT,
    ABANDONED_EFFECTS,
    PROCESSES,
)
PROCESS_METRICS: Final = (
    HTTP_REQUESTS,
    HTTP_SECONDS,
    INTAKE_WAITING,
    MODEL_CALLS,
    MODEL_SECONDS,
    SANDBOX_STARTS,
    SANDBOX_SECONDS,
)
