"""The reference in `docs/` is what the code says: `make reference` writes it anew."""

import pytest

from tests.architecture.tree import ROOT
from tests.reference.pages import PAGES


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    written = (ROOT / "docs" / name).read_text()
    assert written == PAGES[name](), "run: make reference"
