"""Run the service of a story: its web side in this process, its jobs when told."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from patchwright.core.llm.library import load_litellm
from patchwright.core.settings.model import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.integrations.registry import PLUGINS, Plugins
from patchwright.integrations.settings import load_settings
from patchwright.workers.compose import ServiceParts, open_service_parts
from patchwright.workers.web.server import make_server
from patchwright.workers.website import make_website
from tests.flow.clock import MovableClock
from tests.provision.servers import free_port
from tests.provision.waiting import wait_until


@cache
def _redactor(secrets: tuple[str, ...]) -> Redactor:
    """Keep one for the same secrets: all forms of a private key take their time."""
    return Redactor(secrets)


@contextmanager
def serving(
    environment: Mapping[str, str],
    folder: Path,
    clock: MovableClock,
    port: int | None,
    plugins: Plugins = PLUGINS,
) -> Iterator[tuple[ServiceParts, str]]:
    """Run the web side in this process; jobs wait until the story runs them."""
    # With each test pytest forgets which of its warnings are none.
    load_litellm.cache_clear()
    load_litellm()
    settings = load_settings(environment, flags={}, cwd=folder)
    redactor = _redactor(secret_values(settings))
    with open_service_parts(
        settings, redactor, lambda _job: None, clock, plugins
    ) as opened:
        base = replace(opened, clock=clock)
        port = port or free_port()
        server = make_server(make_website(base).app, "127.0.0.1", port)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            wait_until(lambda: server.started, "the web side", 10)
            yield base, f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()
