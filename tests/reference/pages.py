"""The pages of `docs/` that the code writes itself."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from patchwright.core.plugin import RegisteredApp, ServiceProfile
from patchwright.core.plugin_host import MemoryVault
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import NotFoundError
from patchwright.workers.api.reference import DOCUMENT_PATH
from patchwright.workers.cli.reference import manual
from patchwright.workers.web.app import WebApp
from patchwright.workers.web.setup_access import SetupLinks, SetupVisitors
from patchwright.workers.web.setup_pages import SetupPages, create_setup_app
from patchwright.workers.website import make_website
from tests.architecture.tree import ROOT
from tests.flow.office import in_office
from tests.reference.action_page import page as action_page
from tests.reference.api_page import api_page
from tests.reference.cli_page import page as cli_page
from tests.reference.commands_page import page as commands_page
from tests.reference.field_reports import page as field_reports_page
from tests.reference.metrics_page import page as metrics_page
from tests.reference.names_page import page as names_page
from tests.reference.settings_page import page as settings_page

SLACK: Final = {
    "PATCHWRIGHT_SLACK__CLIENT_ID": "1.2",
    "PATCHWRIGHT_SLACK__CLIENT_SECRET": "made-up",
}

OIDC: Final = {
    "PATCHWRIGHT_OIDC__ISSUER": "https://sso.acme.test",
    "PATCHWRIGHT_OIDC__CLIENT_ID": "patchwright",
}

# Without a token of one workspace, others can install the app.
INSTALLABLE: Final = {"PATCHWRIGHT_SLACK__BOT_TOKEN": ""}


def _api_page() -> str:
    """Return it for services that have all configured which one can have."""
    ways = (SLACK | OIDC, SLACK | INSTALLABLE)
    setup = create_setup_app(_setup_site(), lambda _app: None)
    return api_page([*(_office_app(way) for way in ways), setup])


def _office_app(settings: Mapping[str, str]) -> WebApp:
    with (
        tempfile.TemporaryDirectory() as folder,
        in_office(Path(folder), [], settings=settings) as office,
    ):
        return make_website(office.story.base).app


def _openapi() -> str:
    """Return the document as the service sends it."""
    app = _office_app({})
    (route,) = (one for one in app.routes if getattr(one, "path", "") == DOCUMENT_PATH)
    body: bytes = cast("Any", route).endpoint().body
    return body.decode()


class _NoSetup:
    """An `AppSetup` where nobody has made an app."""

    alternative = ""

    def fetch_settings(self) -> None:
        """Have none."""

    def offer(self, public_url: str, organization: str, state: str) -> None:
        """Offer nothing."""

    def register(self, code: str) -> RegisteredApp:
        raise NotFoundError(f"nobody has made an App with the code {code}")


def _setup_site() -> SetupPages:
    forge = ServiceProfile(
        name="github",
        title="GitHub",
        is_configured=False,
        web_url="https://github.com",
        mention="@patchwright",
    )
    clock = SystemClock()
    visitors = SetupVisitors(None, SetupLinks(MemoryVault(), "github", clock), clock)
    return SetupPages(
        service=forge,
        public_url="https://patchwright.example.com",
        port=8080,
        visitors=visitors,
        setup=_NoSetup(),
    )


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "cli-reference.md": cli_page,
    "action-reference.md": lambda: action_page((ROOT / "action.yml").read_text()),
    "man/patchwright.1": manual,
    "names.md": names_page,
    "metrics.md": metrics_page,
    "api.md": _api_page,
    "openapi.json": _openapi,
    "field-reports.md": field_reports_page,
}
