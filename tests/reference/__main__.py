"""Write the generated pages of `docs/` anew: `make reference`."""

from tests.architecture.tree import ROOT
from tests.reference.pages import PAGES

for name, make in PAGES.items():
    (ROOT / "docs" / name).write_text(make())
