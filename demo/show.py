"""What the demo shows in the terminal."""

import re
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from demo.stage import BOT
from patchwright.core.system.clock import Clock
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.seen import PullRequestSeen


class Narrator:
    """Says what happens, and how many seconds after the start."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self.console = console
        self._clock = clock
        self._started_at: datetime = clock.now()

    def say(self, text: str) -> None:
        seconds = (self._clock.now() - self._started_at).total_seconds()
        time = Text(f"{seconds:4.0f} s  ", "dim")
        self.console.print(time.append(text, "not dim bold"))

    def link(self, address: str) -> None:
        """Show an address on a line of its own, which is never broken."""
        self.console.print(Text(f"        {address}", "cyan"), soft_wrap=True)


def links(console: Console, addresses: Mapping[str, str]) -> None:
    width = max(map(len, addresses)) + 1
    for name, address in addresses.items():
        line = Text(f"{name + ':':<{width}} ").append(address, "cyan")
        console.print(line, soft_wrap=True)


def heading(console: Console, text: str) -> None:
    console.print(Rule(text, align="left", style="bold"))


def issue(console: Console, author: str, title: str, body: str) -> None:
    console.print(
        Panel(Markdown(body), title=Text(f"{author}: {title}"), title_align="left")
    )


def status_comment(console: Console, body: str) -> None:
    console.print(
        Panel(Markdown(_without_html(body)), title=Text(BOT), title_align="left")
    )


def pull_request(console: Console, github: FakeGitHub, pull: PullRequestSeen) -> None:
    """Show title, body and diff of a pull request."""
    state = "draft" if pull.draft else "ready for review"
    heading(console, f"Pull request #{pull.number}: {pull.title} ({state})")
    console.print(Markdown(_without_html(pull.body or "")))
    heading(console, "Its diff")
    diff = diff_of(github.git_folder(pull.head_repo), pull)
    console.print(Syntax(diff, "diff", background_color="default"))


def diff_of(git_folder: Path, pull: PullRequestSeen) -> str:
    command = ["git", "-C", str(git_folder), "diff", pull.base_sha, pull.head_sha]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _without_html(text: str) -> str:
    """Leave out what GitHub does not show, and what a terminal cannot."""
    return re.sub(r"<!--.*?-->|</?sub>", "", text, flags=re.DOTALL)
