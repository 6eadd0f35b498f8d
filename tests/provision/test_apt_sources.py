"""The machine's own package mirror is found in either format of its sources."""

from pathlib import Path

import pytest

from tests.provision.apt_sources import Mirror, other_release, own_mirror, read_mirrors
from tests.provision.errors import ProvisionError

STANZAS = """\
# Uncomment what you need.
Types: deb deb-src
# an older snapshot: https://snapshot.test/debian
URIs: https://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
Enabled: no
URIs: https://other.test/debian
Suites: bookworm

Types: deb-src
URIs: https://sources.test/debian
Suites: bookworm
"""
ONE_LINE = """\
# deb https://old.test/debian bullseye main
deb-src https://sources.test/debian bullseye main
deb [signed-by=/k.gpg arch=amd64] https://mirror.test/debian bullseye main contrib
"""


def test_stanzas_are_read() -> None:
    assert list(read_mirrors("debian.sources", STANZAS)) == [
        Mirror("https://mirror.test/debian", "bookworm"),
        Mirror("https://mirror.test/debian", "bookworm-updates"),
    ]


def test_one_line_entries_are_read() -> None:
    assert list(read_mirrors("sources.list", ONE_LINE)) == [
        Mirror("https://mirror.test/debian", "bullseye")
    ]


def test_a_disabled_file_is_not_read() -> None:
    assert list(read_mirrors("debian.sources.disabled", STANZAS)) == []


def test_the_mirror_of_the_machines_own_release_is_taken(tmp_path: Path) -> None:
    _lay_out(tmp_path, ("vendor.list", "deb https://vendor.test/apt stable main"))
    _lay_out(tmp_path, ("z.list", "deb https://mirror.test/debian trixie main"))
    found = own_mirror(tmp_path, tmp_path / "os-release")
    assert found == Mirror("https://mirror.test/debian", "trixie")


def test_a_list_of_mirrors_is_followed(tmp_path: Path) -> None:
    mirrors = tmp_path / "mirrors.txt"
    mirrors.write_text(
        "https://near.test/debian\tpriority:1\nhttps://far.test/debian\n"
    )
    _lay_out(tmp_path, ("a.list", f"deb mirror+file:{mirrors} trixie main"))
    found = own_mirror(tmp_path, tmp_path / "os-release")
    assert found.uri == "https://near.test/debian"


@pytest.mark.parametrize(
    ("own", "other"),
    [("bookworm", "trixie"), ("trixie", "bookworm"), ("noble", "noble")],
)
def test_another_release_is_another_where_one_fits(own: str, other: str) -> None:
    mirror = other_release(Mirror("https://mirror.test/debian", own))
    assert mirror == Mirror("https://mirror.test/debian", other)


def test_a_machine_without_sources_says_so(tmp_path: Path) -> None:
    _lay_out(tmp_path, ("empty.list", ""))
    with pytest.raises(ProvisionError, match="no package source for trixie"):
        own_mirror(tmp_path, tmp_path / "os-release")


def _lay_out(apt: Path, source: tuple[str, str]) -> None:
    name, text = source
    (apt / "os-release").write_text('ID=debian\nVERSION_CODENAME="trixie"\n')
    (apt / "sources.list.d").mkdir(exist_ok=True)
    (apt / "sources.list.d" / name).write_text(text)
