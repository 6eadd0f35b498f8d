"""The pages of `docs/` that the code writes itself."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from patchwright.core.settings.describe import page as settings_page
from patchwright.workers.action.describe import page as action_page
from patchwright.workers.cli.describe import page as cli_page
from patchwright.workers.cli.manual import manual
from patchwright.workers.ops.describe import page as metrics_page
from patchwright.workers.site import make_site
from patchwright.workers.web.describe import api_page
from tests.architecture.tree import ROOT
from tests.flow.office import in_office
from tests.reference.field_reports import page as field_reports_page

SLACK: Final = {
    "PATCHWRIGHT_SLACK__CLIENT_ID": "1.2",
    "PATCHWRIGHT_SLACK__CLIENT_SECRET": "made-up",
}


def _api_page() -> str:
    """Return it for a service that has everything configured."""
    with (
        tempfile.TemporaryDirectory() as folder,
        in_office(Path(folder), [], settings=SLACK) as office,
    ):
        return api_page(make_site(office.story.base).app)


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "settings.md": settings_page,
    "cli-reference.md": cli_page,
    "action-reference.md": lambda: action_page((ROOT / "action.yml").read_text()),
    "man/patchwright.1": manual,
    "metrics.md": metrics_page,
    "api.md": _api_page,
    "field-reports.md": field_reports_page,
}
