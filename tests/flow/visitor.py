"""Somebody at a browser: signs in, asks on the page, answers and steers runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.adapters.web.browser import Form, browsing, forms_on, go_on
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.llm.turns import Script
from tests.flow.story import REPO, Story, telling
from tests.provision.servers import free_port

TEXT = "The total ignores the pieces\n\n`total([450], [3])` is 450, and not 1350."
ADMIN_TOKEN = "bootstrap-0123456789abcdef"
_ADMIN = {"PATCHWRIGHT_SECURITY__ADMIN_TOKEN": ADMIN_TOKEN}


@dataclass(frozen=True)
class Visitor:
    """One browser; `page` is the address of the run that it looks at."""

    story: Story
    browser: httpx.Client

    def sign_in(self, login: str) -> None:
        sit_down(self.story.github.world, login)
        begun = self.browser.get(f"{self.story.url}/auth/github/login")
        go_on(self.browser, go_on(self.browser, begun))

    def ask(self, **fields: str) -> str:
        """Make a request on the page; return the path of its run."""
        address = f"{self.story.url}/requests/new"
        [form] = forms_on(self.browser.get(address))
        asked = {"check": form.fields["check"], "where": REPO, "text": TEXT}
        sent = self.browser.post(address, data={**asked, **fields})
        assert sent.status_code == 303, sent.text
        return sent.headers["location"]

    def look(self, path: str) -> str:
        page = self.browser.get(f"{self.story.url}{path}")
        assert page.status_code == 200, page.text
        return page.text

    def forms(self, path: str) -> dict[str, Form]:
        """Return the forms of a run's page by act and, of an answer, its number."""
        page = self.browser.get(f"{self.story.url}{path}")
        return {
            f"{one.fields['act']}{one.fields.get('text', '')}": one
            for one in forms_on(page)
            if "act" in one.fields
        }

    def send(self, path: str, act: str, text: str | None = None) -> httpx.Response:
        """Send one of the forms as the browser does, with what was typed."""
        form = self.forms(path)[act]
        typed = {} if text is None else {"text": text}
        return self.post(form.action, {**form.fields, **typed})

    def post(self, path: str, fields: Mapping[str, str]) -> httpx.Response:
        return self.browser.post(f"{self.story.url}{path}", data=dict(fields))

    def press(self, path: str, act: str, text: str | None = None) -> None:
        """Send a form, which must be taken, and let the service work."""
        sent = self.send(path, act, text)
        assert sent.status_code == 303, sent.text
        self.story.work()


@contextmanager
def visiting(
    folder: Path, turns: Script, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[Story, Visitor, Visitor]]:
    """Yield two browsers in which nobody is signed in."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        browsing() as first,
        browsing() as second,
        telling(
            folder,
            turns,
            port=port,
            signs_in_at=url,
            settings={**_ADMIN, **(settings or {})},
        ) as story,
    ):
        yield story, Visitor(story, first), Visitor(story, second)
