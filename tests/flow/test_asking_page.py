"""People ask on a page of the service: who is signed in, and may, gets a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import ThreadKind
from patchwright.workers.runs.requests import MAX_TEXT_CHARS
from patchwright.workers.web.site.request_form import MAX_PER_HOUR
from tests.adapters.web.browser import browsing, forms_on, go_on
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.llm.turns import Script
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.provision.servers import free_port

TEXT = "The total ignores the pieces\n\n`total([450], [3])` is 450, and not 1350."


@dataclass(frozen=True)
class Page:
    story: Story
    browser: httpx.Client

    @property
    def address(self) -> str:
        return f"{self.story.url}/requests/new"

    def sign_in(self, login: str) -> None:
        sit_down(self.story.github.world, login)
        begun = self.browser.get(f"{self.story.url}/auth/github/login")
        go_on(self.browser, go_on(self.browser, begun))

    def check(self) -> str:
        """Return the word that the form has been given."""
        (form,) = forms_on(self.browser.get(self.address))
        return form.fields["check"]

    def send(self, *, check: str | None = None, **fields: str) -> httpx.Response:
        word = self.check() if check is None else check
        return self.browser.post(self.address, data={"check": word, **fields})

    def run_of(self, sent: httpx.Response) -> str:
        """Follow to the page of the run, and return what it shows."""
        assert sent.status_code == 303, sent.text
        page = self.browser.get(f"{self.story.url}{sent.headers['location']}")
        assert page.status_code == 200
        return page.text


@contextmanager
def _asking(folder: Path, turns: Script) -> Iterator[Page]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        browsing() as browser,
        telling(folder, turns, port=port, signs_in_at=url) as story,
    ):
        yield Page(story, browser)


def test_a_request_ends_in_a_pull_request_and_its_page_shows_it(tmp_path: Path) -> None:
    with _asking(tmp_path, fix_turns()) as page:
        page.sign_in("alice")
        sent = page.send(where=REPO, text=TEXT.replace("\n", "\r\n"))
        assert "Queued" in page.run_of(sent)
        page.story.work()
        shown = page.run_of(sent)
        assert "<strong>Done, proven</strong>" in shown
        assert "The total ignores the pieces" in shown
        [job] = page.story.jobs()
        assert job.trigger.thread.kind is ThreadKind.REQUEST
        assert len(page.story.github.pull_requests(REPO)) == 1


def test_a_second_click_starts_nothing_more(tmp_path: Path) -> None:
    with _asking(tmp_path, fix_turns()) as page:
        page.sign_in("alice")
        check = page.check()
        first = page.send(check=check, where=REPO, text=TEXT)
        second = page.send(check=check, where=REPO, text=TEXT)
        assert first.headers["location"] == second.headers["location"]
        assert len(page.story.jobs()) == 1


def test_for_an_issue_its_thread_gets_the_answer(tmp_path: Path) -> None:
    with _asking(tmp_path, fix_turns()) as page:
        story = page.story
        number = story.github.open_issue(REPO, "eve", "Wrong sum", TEXT)
        page.sign_in("alice")
        page.send(where=f"{story.github.web_url}/{REPO}/issues/{number}", text="")
        story.work()
        assert "patchwright:state=resolved" in story.reply(number)
        [ping] = story.pings(number)
        assert ping.startswith("@alice")


def test_a_plan_can_be_asked_for_first(tmp_path: Path) -> None:
    with _asking(tmp_path, []) as page:
        page.sign_in("alice")
        page.send(where=REPO, text=TEXT, plan="yes")
        [job] = page.story.jobs()
        assert job.trigger.request == "plan"


def test_p8_who_may_not_write_gets_a_page_that_says_so(tmp_path: Path) -> None:
    with _asking(tmp_path, []) as page:
        page.sign_in("eve")
        sent = page.send(where=REPO, text=TEXT)
        page.story.work()
        outcome = page.story.outcome()
        assert (outcome.kind, outcome.reason) == (OutcomeKind.REFUSED, "not-permitted")
        assert "write access is needed" in page.run_of(sent)


def test_who_is_not_signed_in_is_led_there_and_back(tmp_path: Path) -> None:
    with _asking(tmp_path, []) as page:
        home = page.browser.get(page.story.url)
        assert home.headers["location"] == "/runs"
        shown = page.browser.get(page.address)
        assert shown.status_code == 401
        assert "/auth/github/login?next=%2Frequests%2Fnew" in shown.text
        assert page.send(check="", where=REPO, text=TEXT).status_code == 401
        assert page.story.jobs() == []


def test_a_form_of_another_page_or_person_starts_nothing(tmp_path: Path) -> None:
    with _asking(tmp_path, []) as page:
        page.sign_in("eve")
        theirs = page.check()
        page.sign_in("alice")
        for check in ("", "x", theirs, f"{'a' * 22}.{'0' * 64}"):
            refused = page.send(check=check, where=REPO, text=TEXT)
            assert refused.status_code == 403
            assert "The total ignores the pieces" in refused.text
        assert page.story.jobs() == []


def test_a_stranger_does_not_ask_without_end(tmp_path: Path) -> None:
    with _asking(tmp_path, []) as page:
        page.sign_in("eve")
        check = page.check()
        for _ in range(MAX_PER_HOUR):
            assert page.send(check=check, where="acme/vault").status_code == 422
        refused = page.send(check=check, where=REPO, text=TEXT)
        assert refused.status_code == 429
        assert "The total ignores the pieces" in refused.text
        page.sign_in("alice")
        assert page.send(where=REPO, text=TEXT).status_code == 303
        assert len(page.story.jobs()) == 1


def test_what_is_wrong_is_said_beside_what_was_typed(tmp_path: Path) -> None:
    with _asking(tmp_path, []) as page:
        page.sign_in("alice")
        elsewhere = page.send(where="https://elsewhere.test/a/b/issues/7", text="<b>x")
        assert elsewhere.status_code == 422
        assert "Enter OWNER/NAME" in elsewhere.text
        assert "&lt;b&gt;x" in elsewhere.text
        unknown = page.send(where="acme/vault", text=TEXT)
        assert (
            "There is no repository acme/vault, or you cannot read it" in unknown.text
        )
        empty = page.send(where=REPO, text="  ")
        assert "Enter a task." in empty.text
        long = page.send(where=REPO, text="x" * (MAX_TEXT_CHARS + 1))
        assert "Write the text in an issue" in long.text
        huge = page.send(where=REPO, text="x" * 300_000)
        assert huge.status_code == 413
        assert page.story.jobs() == []
