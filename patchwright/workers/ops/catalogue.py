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


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class Figure:
    """One metric; the buckets of a histogram are in seconds."""

    name: str
    kind: Kind
    about: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


DATABASE_UP: Final = Figure(
    "patchwright_database_up",
    Kind.GAUGE,
    "1 where the database answered; without it the figures of this table are missing.",
)
JOBS: Final = Figure(
    "patchwright_jobs", Kind.GAUGE, "Jobs that have not ended.", ("state",)
)
LOST_JOBS: Final = Figure(
    "patchwright_jobs_lost",
    Kind.GAUGE,
    "Jobs whose worker has shown no sign of life for longer than its lease.",
)
OLDEST_JOB: Final = Figure(
    "patchwright_oldest_waiting_job_seconds",
    Kind.GAUGE,
    "How long the oldest job waits for a worker; 0 where none does.",
)
RUNS: Final = Figure(
    "patchwright_runs_total",
    Kind.COUNTER,
    "Runs that have ended, by the service and the kind of what asked for them.",
    ("service", "trigger", "outcome", "proof"),
)
RUN_SECONDS: Final = Figure(
    "patchwright_run_duration_seconds",
    Kind.HISTOGRAM,
    "How long runs have worked.",
    ("outcome",),
    RUN_BUCKETS_S,
)
WAIT_SECONDS: Final = Figure(
    "patchwright_run_wait_seconds",
    Kind.HISTOGRAM,
    "How long requests have waited until a worker began.",
    (),
    WAIT_BUCKETS_S,
)
SPENT: Final = Figure(
    "patchwright_spent_usd_total",
    Kind.COUNTER,
    "What model calls have cost, as far as prices are known.",
)
SPENT_TODAY: Final = Figure(
    "patchwright_spent_today_usd",
    Kind.GAUGE,
    "What they have cost since midnight, UTC.",
)
RESERVED_TODAY: Final = Figure(
    "patchwright_reserved_today_usd",
    Kind.GAUGE,
    "What is set aside since midnight for calls that have not been settled.",
)
TOKENS: Final = Figure(
    "patchwright_tokens_total",
    Kind.COUNTER,
    "Tokens of the runs that have ended; `cached` are among `in`.",
    ("direction",),
)
TOKENS_TODAY: Final = Figure(
    "patchwright_tokens_today",
    Kind.GAUGE,
    "Tokens of the runs that have ended since midnight, UTC.",
    ("direction",),
)
DELIVERIES: Final = Figure(
    "patchwright_deliveries_total",
    Kind.COUNTER,
    "Deliveries that were verified and stored, by what became of them.",
    ("service", "verdict"),
)
MISSED: Final = Figure(
    "patchwright_missed_deliveries",
    Kind.GAUGE,
    "Deliveries that a service could not bring and that have not come since.",
    ("service",),
)
PENDING_EFFECTS: Final = Figure(
    "patchwright_effects_pending",
    Kind.GAUGE,
    "Steps still to be made visible outside: pushes, pull requests, messages.",
)
OLDEST_EFFECT: Final = Figure(
    "patchwright_oldest_pending_effect_seconds",
    Kind.GAUGE,
    "How long ago the oldest of them was planned; 0 where there is none.",
)
ABANDONED_EFFECTS: Final = Figure(
    "patchwright_effects_abandoned_total",
    Kind.COUNTER,
    "Steps that never worked and were given up.",
)
PROCESSES: Final = Figure(
    "patchwright_processes",
    Kind.GAUGE,
    "Processes that are alive; `ready` is what they say of themselves.",
    ("role", "version", "ready"),
)

HTTP_REQUESTS: Final = Figure(
    "patchwright_http_requests_total",
    Kind.COUNTER,
    "Requests to the web side, by the pattern of their path.",
    ("method", "route", "status"),
)
HTTP_SECONDS: Final = Figure(
    "patchwright_http_request_duration_seconds",
    Kind.HISTOGRAM,
    "How long they took to answer.",
    ("route",),
    REQUEST_BUCKETS_S,
)
INTAKE_WAITING: Final = Figure(
    "patchwright_intake_waiting",
    Kind.GAUGE,
    "Deliveries that were verified and wait to be stored.",
)
MODEL_CALLS: Final = Figure(
    "patchwright_model_calls_total",
    Kind.COUNTER,
    "Model calls with all their retries, by the reason where one has failed.",
    ("model", "outcome"),
)
MODEL_SECONDS: Final = Figure(
    "patchwright_model_call_duration_seconds",
    Kind.HISTOGRAM,
    "How long they took.",
    ("model",),
    CALL_BUCKETS_S,
)
SANDBOX_STARTS: Final = Figure(
    "patchwright_sandbox_starts_total",
    Kind.COUNTER,
    "Sandboxes that were started, by the reason where one was not.",
    ("kind", "outcome"),
)
SANDBOX_SECONDS: Final = Figure(
    "patchwright_sandbox_start_duration_seconds",
    Kind.HISTOGRAM,
    "How long it took to start them.",
    ("kind",),
    WAIT_BUCKETS_S,
)

SHARED: Final = (
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
OWN: Final = (
    HTTP_REQUESTS,
    HTTP_SECONDS,
    INTAKE_WAITING,
    MODEL_CALLS,
    MODEL_SECONDS,
    SANDBOX_STARTS,
    SANDBOX_SECONDS,
)
