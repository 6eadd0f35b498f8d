"""The HTML of a run's page: in the frame of the site, or the parts that change."""

from fastapi import Response

from patchwright.workers.accounts.principal import Principal
from patchwright.workers.web.run_page.entries import EventEntry
from patchwright.workers.web.run_page.prose import prose_html
from patchwright.workers.web.run_page.views import EventsView, RunHead, RunView
from patchwright.workers.web.site.frame import Site, render


def run_page(
    site: Site, principal: Principal | None, view: RunView, events: EventsView
) -> Response:
    """Show a run; who came by a link alone gets it without the navigation."""
    return site.show("run.html", principal, run=view, events=events, prose=prose_html)


def missing_page(
    site: Site, principal: Principal | None, sign_in: str, title: str
) -> Response:
    """Answer the same for runs that do not exist and for those that are not visible.

    `title` is what people call the forge, with which they sign in.
    """
    return site.show(
        "run_missing.html", principal, status=404, sign_in=sign_in, title=title
    )


def entry_html(entry: EventEntry) -> str:
    return render("run_entry.html", entry=entry, prose=prose_html)


def head_html(head: RunHead) -> str:
    return render("run_head.html", head=head)
