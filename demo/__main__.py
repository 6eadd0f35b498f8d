"""Run the demo: `make demo`."""

import sys
import tempfile
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
from tests.fakes.github.webhooks.sending import deliver
from tests.provision.errors import ProvisionError
from tests.provision.waiting import wait_until

MENTION = "@patchwright please fix this, with a test that shows it."
TIME_LIMIT_S = 1_800.0


def main() -> int:
    """Return 0 when the demo ended with a proven pull request."""
    console = Console()
    sandbox = stage.choose_sandbox()
    model = stage.choose_model(process_environment())
    console.print(f"sandbox: {sandbox.shown}\nmodel:   {model.shown}", highlight=False)
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
        with stage.serving(settings, Path(folder)) as service:
            return 0 if _play(console, github, service) else 1


def _play(console: Console, github: FakeGitHub, service: stage.Service) -> bool:
    """Post the mention, watch the run; return whether its change is proven."""
    title, _, body = (stage.HERE / "issue.md").read_text("utf-8").partition("\n")
    title, body = title.removeprefix("# "), f"{body.strip()}\n\n{MENTION}"
    show.heading(console, f"An issue on {github.web_url}/{stage.REPO}")
    show.issue(console, "alice", title, body)
    number = github.open_issue(stage.REPO, "alice", title, body)
    receipt = deliver(github.deliveries[-1], service.webhook)
    console.print(
        f"signed webhook to {service.webhook}: {receipt.status}", highlight=False
    )
    show.heading(console, "The run, live")
    comment = _watch(console, github, service, number)
    show.heading(console, "The bot's one comment in the issue")
    show.status_comment(console, comment)
    pulls = github.pull_requests(stage.REPO)
    if not pulls:
        console.print("The run ended without a pull request.")
        return False
    [pull] = pulls
    show.pull_request(console, github, pull)
    show.heading(console, "Links (they work while the emulated GitHub runs)")
    links = f"{github.web_url}/{stage.REPO}"
    console.print(f"issue:        {links}/issues/{number}", highlight=False)
    console.print(f"pull request: {links}/pull/{pull.number}", highlight=False)
    console.print(f"branch:       {pull.head_branch} at {pull.head_sha[:10]}")
    return not pull.draft


def _watch(
    console: Console, github: FakeGitHub, service: stage.Service, number: int
) -> str:
    """Follow the run's events to its end; return the final status comment."""

    def ended() -> str:
        comments = github.comments(stage.REPO, number)
        bodies = [one.body for one in comments if one.author == stage.BOT]
        is_over = bodies and UNFINISHED not in bodies[-1]
        return bodies[-1] if is_over else ""

    watch = ProgressTracker(service.sandbox, SystemClock().now())
    with (
        service.open_log(number) as log,
        live_view(console, log, watch, Limits(), SystemClock()),
    ):
        wait_until(lambda: bool(ended()), "the run", TIME_LIMIT_S)
    return ended()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ProvisionError as error:
        sys.exit(f"The demo could not be run: {error}")
