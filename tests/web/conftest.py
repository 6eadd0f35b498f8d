"""One Chromium for all tests of a process; each window has cookies of its own."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.web.chromium import PATIENCE_MS, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with chromium() as running:
        yield running
