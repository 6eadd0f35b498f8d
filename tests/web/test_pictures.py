"""The pictures of the docs are there, small enough, and of this product's pages."""

import re

import pytest

from tests.architecture.tree import ROOT
from tests.web.pictures import MOST_BYTES, PICTURES

IMAGES = ROOT / "docs" / "images"


@pytest.mark.parametrize("name", [one.name for one in PICTURES])
def test_each_picture_is_shown_and_loads_fast(name: str) -> None:
    picture = (IMAGES / f"{name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) <= MOST_BYTES
    assert f"(images/{name}.png)" in (ROOT / "docs/pages.md").read_text()


def test_no_picture_is_left_that_nobody_takes() -> None:
    names = {f"{one.name}.png" for one in PICTURES}
    assert {one.name for one in IMAGES.glob("*.png")} == names
    shown = re.findall(r"docs/images/(\w+\.png)", (ROOT / "README.md").read_text())
    assert set(shown) <= names
    assert shown
