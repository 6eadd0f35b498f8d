"""What `patchwright serve` tells a person at a terminal, above and between its log."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from patchwright.core.plugin import InstallationReach, RegisteredApp
from patchwright.core.text.strings import count_noun
from patchwright.core.webhook_address import AddressProblem, describe_address_problem
from patchwright.workers.web.reach_advice import ways_to_be_reachable
from patchwright.workers.web.setup_pages import SetupPages

_WIDEST: Final = 100
_STOP: Final = "Ctrl-C"
_LOG: Final = "below, on standard error"


def try_sentence(mention: str, repository: str) -> str:
    """Say how to make a first request.

    >>> try_sentence("@fixbot", "acme/shop")
    'Try: open an issue in acme/shop and write `@fixbot please ...`'
    """
    place = repository or "one of its repositories"
    return f"Try: open an issue in {place} and write `{mention} please ...`"


@dataclass(frozen=True)
class Greeter:
    """Writes boxes and sentences where the log goes too.

    A link has a line of its own, which is never broken: the terminal itself may break
    it, and still copies it as one.
    """

    console: Console

    def offer_setup(self, site: SetupPages, link: str) -> None:
        """Show the link to the pages that create the App."""
        if site.visitors.asks_for_token:
            do, again = "Open the link below and enter security.admin_token.", {}
        else:
            do = (
                "Open the link below in a browser. It expires after 15 minutes and "
                "works in one browser."
            )
            again = {"New link": "patchwright setup-link"}
        title = f"create your {site.service.title} App"
        self._show_box(title, {"Next": do, **again, "Stop": _STOP, "Log": _LOG})
        self._show_link(link)

    def refuse_setup(self, site: SetupPages, problem: AddressProblem) -> None:
        """Say why no App is offered, and name the ways to be reachable."""
        service = site.service
        facts = {
            "Problem": f"{describe_address_problem(problem, site.public_url)} "
            f"{service.title} cannot send webhooks to this service.",
            "Next": "Choose one of the three ways below, and start patchwright serve "
            "again. It then shows a link to create the App.",
            "Stop": _STOP,
        }
        self._show_box("set a public URL", facts)
        for number, way in enumerate(ways_to_be_reachable(service, site.port), 1):
            self._say(Text(f"{number}. {way.title}", "bold"))
            self._say(Text(f"   {way.text}"))
            for command in way.commands:
                self._say(Text(f"   {command}", "cyan"))
            self._say(Text())

    def tell_registered(self, service: str, app: RegisteredApp) -> None:
        """Say where to install the App that was created."""
        self._say(
            Text.assemble(
                ("✓ ", "green"),
                f"The {service} App {app.slug} was created. People mention it as ",
                (app.mention, "bold"),
                ".",
            )
        )
        self._say(Text("  Install it in repositories:"))
        self._show_link(app.install_url)

    def tell_ready(self, address: str, mention: str, *, has_form: bool) -> None:
        """Say where the service is, and what to try."""
        first = try_sentence(mention, "").removeprefix("Try: ")
        facts = {"Address": address, "Mention": mention, "Try": first}
        if has_form:
            facts["Form"] = f"{address}/requests/new"
        last = {"Check": "patchwright doctor", "Stop": _STOP, "Log": _LOG}
        self._show_box("the service is running", {**facts, **last})

    def tell_installed(self, reach: InstallationReach, mention: str) -> None:
        """Say where the App was installed, and what to try there."""
        where = count_noun(reach.count, "repository", "repositories")
        text = f"Installed in {where}. {try_sentence(mention, reach.first)}"
        self._say(Text.assemble(("✓ ", "green"), text), breaks=True)

    def _show_box(self, title: str, facts: Mapping[str, str]) -> None:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for name, fact in facts.items():
            table.add_row(name, Text(fact))
        heading = Text(f"Patchwright {version('patchwright')}: {title}")
        width = min(self.console.width, _WIDEST)
        self.console.print(Panel(table, title=heading, title_align="left", width=width))

    def _show_link(self, link: str) -> None:
        self._say(Text(f"\n{link}\n", "cyan underline"))

    def _say(self, text: Text, *, breaks: bool = False) -> None:
        self.console.print(text, soft_wrap=not breaks)


def find_greeter(*, logs_json: bool) -> Greeter | None:
    """Return who greets, None where no person reads what is written."""
    if logs_json or not sys.stderr.isatty():
        return None
    return Greeter(Console(stderr=True, highlight=False))
