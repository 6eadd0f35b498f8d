"""The HTML of a run's page: in the frame of the site, or the parts that change."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import Response

from patchwright.core.types.base import Value
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.store.run_links import RunLink
from patchwright.workers.web.frame import Site, render
from patchwright.workers.web.run_page.actions import ActionsView
from patchwright.workers.web.run_page.change import read_file_change
from patchwright.workers.web.run_page.entries import EventEntry
from patchwright.workers.web.run_page.prose import prose_html
from patchwright.workers.web.run_page.steps import LogStep, Part
from patchwright.workers.web.run_page.terminal import terminal_html
from patchwright.workers.web.run_page.views import RunHead, RunView, StepsView

# What templates make of texts; each escapes whatever is in them.
_TEXTS: Final[Mapping[str, Any]] = {
    "prose": prose_html,
    "terminal": terminal_html,
    "read_file_change": read_file_change,
}


class RunSharing(Value):
    """The links that open a run, for who may share it; `note` is what was done."""

    links: tuple[RunLink, ...]
    note: str = ""


def run_page(
    site: Site,
    principal: Principal | None,
    view: RunView,
    steps: StepsView,
    actions: ActionsView,
    *,
    sharing: RunSharing | None,
) -> Response:
    """Show a run; who came by a link alone gets it without the navigation."""
    return site.show(
        "run.html",
        principal,
        run=view,
        steps=steps,
        actions=actions,
        sharing=sharing,
        **_TEXTS,
    )


def missing_page(
    site: Site, principal: Principal | None, sign_in: str, title: str
) -> Response:
    """Answer the same for runs that do not exist and for those that are not visible.

    `title` is what people call the forge, with which they sign in.
    """
    return site.show(
        "run_missing.html", principal, status=404, sign_in=sign_in, title=title
    )


def diff_page(
    site: Site, principal: Principal | None, view: RunView, *, is_split: bool
) -> Response:
    """Show the whole change of a run."""
    return site.show("run_diff_page.html", principal, run=view, is_split=is_split)


def event_page(
    site: Site, principal: Principal | None, view: RunView, entry: EventEntry
) -> Response:
    """Show one event with the whole of its text."""
    return site.show("run_event.html", principal, run=view, entry=entry, **_TEXTS)


def shared_page(
    site: Site, principal: Principal, view: RunView, link: RunLink, url: str
) -> Response:
    """Show the link that opens a run without signing in."""
    return site.show("run_shared.html", principal, run=view, link=link, url=url)


def part_html(run_id: str, part: Part) -> str:
    """Return a step or an entry as the page has it."""
    return render(
        "run_part.html",
        part=part,
        is_step=isinstance(part, LogStep),
        id=run_id,
        **_TEXTS,
    )


def head_html(head: RunHead) -> str:
    return render("run_head.html", head=head)
