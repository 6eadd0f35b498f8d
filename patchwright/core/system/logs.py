"""How this process logs: one event a line, without secrets."""

import logging
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from types import TracebackType
from typing import Any, cast

import structlog
from pydantic import JsonValue

Redact = Callable[[JsonValue], JsonValue]

log = structlog.get_logger(__name__)


def set_up_logging(
    redact: Redact,
    *,
    as_json: bool,
    about: Mapping[str, str] | None = None,
    level: int = logging.INFO,
) -> None:
    """Write to standard error; what libraries log goes the same way.

    As JSON, each line tells `about` the process too.
    """
    is_watched = not as_json and sys.stderr.isatty()
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        _time_stamper(is_watched=is_watched),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=is_watched)
    )
    last = [_redacting(redact), *([_renamed(about or {})] if as_json else []), renderer]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    last = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=last)
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("patchwright").setLevel(level)
    # Whoever asked says it in the end, if none of the tries worked.
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


def log_more() -> None:
    """Log also what only somebody who looks for a fault wants to know."""
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger("patchwright").setLevel(logging.DEBUG)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.WARNING)


def _time_stamper(*, is_watched: bool) -> structlog.typing.Processor:
    """Return what adds the time; at a terminal it is short, as the day is known."""
    if is_watched:
        return structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)
    return structlog.processors.TimeStamper(fmt="iso", utc=True)


def log_strays() -> None:
    """Log what Python would print: warnings, and errors that nobody caught.

    For a process of its own; printed, they would be neither JSON nor free of secrets.
    """
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_crash
    threading.excepthook = _log_thread_crash


def _log_crash(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    log.critical("crashed", exc_info=(kind, error, trace))


def _log_thread_crash(crash: threading.ExceptHookArgs) -> None:
    name = crash.thread.name if crash.thread else ""
    error = crash.exc_value or crash.exc_type()
    log.critical("thread_crashed", thread=name, exc_info=error)


def _redacting(redact: Redact) -> structlog.typing.Processor:
    def process(
        _logger: object, _method: str, entry: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        plain = {key: _plain(value) for key, value in entry.items()}
        return cast("dict[str, Any]", redact(plain))

    return process


def _plain(value: object) -> JsonValue:
    """Return what can be looked through for secrets."""
    if isinstance(value, str | int | float | bool | None):
        return value
    return str(value)


def _renamed(about: Mapping[str, str]) -> structlog.typing.Processor:
    """Use the names that log collectors look for."""

    def process(
        _logger: object, _method: str, entry: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        entry["severity"] = str(entry.pop("level", "info")).upper()
        entry["message"] = entry.pop("event", "")
        return {**about, **entry}

    return process
