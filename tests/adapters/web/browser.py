"""A browser, and a web application on a real port for it to go to."""

import html
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx
from fastapi import FastAPI

from patchwright.workers.web.server import make_server
from tests.provision.servers import free_port
from tests.provision.waiting import wait_until


@dataclass
class Form:
    """A form of a page, with what is in its fields."""

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(facts["method"], facts.get("action", "")))
        elif tag == "input" and "name" in facts:
            self.forms[-1].fields[facts["name"]] = facts.get("value", "")


def forms_on(answer: httpx.Response) -> list[Form]:
    reader = _Reader()
    reader.feed(answer.text)
    return reader.forms


def text_of(page: httpx.Response) -> str:
    """Return what a page shows, a line for each block."""
    body = page.text.partition("<main>")[2].partition("</main>")[0]
    lines = re.sub(r"</?(?:h1|h2|p|pre|form|table|tr)\b[^>]*>", "\0", body)
    text = html.unescape(re.sub(r"<[^>]+>", "", lines))
    return "\n".join(
        " ".join(block.split()) for block in text.split("\0") if block.strip()
    )


@contextmanager
def browsing() -> Iterator[httpx.Client]:
    """Yield a client that keeps cookies, and stops at every redirect."""
    with httpx.Client(timeout=10) as client:
        yield client


def go_on(browser: httpx.Client, answer: httpx.Response) -> httpx.Response:
    """Go where the answer sends the browser."""
    assert answer.is_redirect, answer.text
    return browser.get(answer.headers["location"])


@contextmanager
def serving(make: Callable[[str], FastAPI]) -> Iterator[str]:
    """Serve the application that is made for an address, which is yielded."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = make_server(make(url), "127.0.0.1", port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "uvicorn", 10)
        yield url
    finally:
        server.should_exit = True
        thread.join()
