"""The story of the demo, told as it happens."""

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from demo import show, stage
from patchwright.core.settings.environment import process_environment
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.work import Limits
from patchwright.resolver.messages.status import UNFINISHED
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.cli.live import live_view
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.seen import PullRequestSeen
from tests.fakes.github.webhooks.sending import deliver
from tests.provision.errors import ProvisionError
from tests.provision.waiting import wait_until

MENTION = "@patchwright please fix this, with a test that shows it."
TIME_LIMIT_S = 1_800.0
START_LIMIT_S = 120.0


def run() -> int | str:
    """Return the exit code, or a message that says why the demo could not be run."""
    try:
        return 0 if _play(show.Narrator(Console(highlight=False), SystemClock())) else 1
    except ProvisionError as error:
        return f"The demo could not be run: {error}"
    except KeyboardInterrupt:
        return "The demo was stopped."


def _play(narrator: show.Narrator) -> bool:
    """Play it all; return whether it ended with a proven pull request."""
    sandbox = stage.choose_sandbox()
    narrator.say(f"Sandbox: {sandbox.shown}")
    model = stage.choose_model(process_environment())
    narrator.say(f"Model: {model.shown}")
    with (
        tempfile.TemporaryDirectory(prefix="patchwright-demo-") as folder,
        FakeGitHub(enterprise=True) as github,
    ):
        settings = {
            "PATCHWRIGHT_STATE_DIR": str(Path(folder, "state")),
            "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
            "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
            "PATCHWRIGHT_GITHUB__APP_ID": str(stage.APP_ID),
            "PATCHWRIGHT_GITHUB__PRIVATE_KEY": stage.build(github),
            "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": stage.WEBHOOK_SECRET,
            **sandbox.settings,
            **model.settings,
        }
        narrator.say("Starting `patchwright serve`")
        with stage.serving(settings, Path(folder)) as service:
            narrator.say("The service is ready")
            return _Story(narrator, github, service, _is_watched(narrator)).tell()


def _is_watched(narrator: show.Narrator) -> bool:
    """Tell whether somebody can open links, and end the demo with a key."""
    is_person = sys.stdin.isatty() and narrator.console.is_terminal
    return is_person and not process_environment().get("CI")


class _Story:
    """One request from the issue to the pull request.

    Links are shown only to somebody who keeps the emulated GitHub running.
    """

    def __init__(
        self,
        narrator: show.Narrator,
        github: FakeGitHub,
        service: stage.Service,
        is_watched: bool,  # noqa: FBT001 - one of the facts of a story
    ) -> None:
        self._narrator, self._console = narrator, narrator.console
        self._github, self._service = github, service
        self._is_watched = is_watched
        self._site = f"{github.web_url}/{stage.REPO}"

    def tell(self) -> bool:
        number = self._ask()
        run_page = self._wait_for_start(number)
        with self._narrated_end():
            comment = self._watch(number)
        show.heading(self._console, "The bot's one comment in the issue")
        show.status_comment(self._console, comment)
        pulls = self._github.pull_requests(stage.REPO)
        if not pulls:
            self._narrator.say("The run ended without a pull request")
            return False
        show.pull_request(self._console, self._github, pulls[0])
        if self._is_watched:
            self._show_links(number, pulls[0], run_page)
        return not pulls[0].draft

    def _ask(self) -> int:
        """Open the issue that mentions the bot, and deliver its webhook."""
        title, _, body = (stage.HERE / "issue.md").read_text("utf-8").partition("\n")
        title, body = title.removeprefix("# "), f"{body.strip()}\n\n{MENTION}"
        number = self._github.open_issue(stage.REPO, "alice", title, body)
        self._narrator.say(f"alice opens issue #{number} in {stage.REPO}")
        if self._is_watched:
            self._narrator.link(f"{self._site}/issues/{number}")
        show.issue(self._console, "alice", title, body)
        receipt = deliver(self._github.deliveries[-1], self._service.webhook)
        self._narrator.say(
            f"GitHub sends the signed webhook; the service answers {receipt.status}"
        )
        return number

    def _wait_for_start(self, number: int) -> str:
        """Return the address of the run's page, which the first comment has."""
        wait_until(lambda: bool(self._comment(number)), "the run", START_LIMIT_S)
        self._narrator.say("The run has started: the bot comments on the issue")
        pattern = rf"{re.escape(self._service.url)}/runs/[^\s)\]]+"
        found = re.search(pattern, self._comment(number))
        run_page = found[0] if found else ""
        if run_page and self._is_watched:
            self._narrator.say("Its page shows each step; open it now:")
            self._narrator.link(run_page)
        return run_page

    @contextmanager
    def _narrated_end(self) -> Iterator[None]:
        show.heading(self._console, "The run, live")
        yield
        self._narrator.say("The run has ended")

    def _watch(self, number: int) -> str:
        """Follow the run's events to its end; return the final status comment."""

        def ended() -> bool:
            return UNFINISHED not in self._comment(number)

        clock = SystemClock()
        watch = ProgressTracker(self._service.sandbox, clock.now())
        with (
            self._service.open_log(number) as log,
            live_view(self._console, log, watch, Limits(), clock),
        ):
            wait_until(ended, "the end of the run", TIME_LIMIT_S)
        return self._comment(number)

    def _comment(self, number: int) -> str:
        """Return the bot's last comment, empty before there is one."""
        comments = self._github.comments(stage.REPO, number)
        bodies = [one.body for one in comments if one.author == stage.BOT]
        return bodies[-1] if bodies else ""

    def _show_links(self, number: int, pull: PullRequestSeen, run_page: str) -> None:
        """Show what a browser can open, until Enter is pressed."""
        show.heading(self._console, "Look at it in a browser")
        show.links(
            self._console,
            {
                "issue": f"{self._site}/issues/{number}",
                "pull request": f"{self._site}/pull/{pull.number}",
                "its files": f"{self._site}/pull/{pull.number}/files",
                "run": run_page,
            },
        )
        self._console.print("[bold]Press Enter to end the demo.[/] ", end="")
        sys.stdin.readline()
        self._console.print("The demo has ended; its links no longer work.")
