"""Write the pages of `docs/` and the table of providers anew: `make reference`."""

from tests.architecture.tree import ROOT
from tests.reference.pages import PAGES
from tests.reference.providers_table import PROVIDERS_FILE, providers_table

for name, make in PAGES.items():
    (ROOT / "docs" / name).write_text(make())
PROVIDERS_FILE.write_text(providers_table())
