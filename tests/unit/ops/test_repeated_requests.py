"""What a library logs of requests that it repeats is for those who look for a fault."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from patchwright.core.system.logs import log_more, set_up_logging

LOGGERS = ("", "patchwright", "urllib3.connectionpool")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the logging of this process as it was."""
    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    handlers, configured = root.handlers[:], structlog.get_config()
    yield
    root.handlers[:] = handlers
    structlog.configure(**configured)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def test_a_repeated_request_is_shown_only_to_those_who_want_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    requests = logging.getLogger("urllib3.connectionpool")
    set_up_logging(lambda value: value, as_json=True)
    requests.warning("Retrying")
    assert capsys.readouterr().err == ""
    log_more()
    requests.warning("Retrying")
    assert "Retrying" in capsys.readouterr().err
