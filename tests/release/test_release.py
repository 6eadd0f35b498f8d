"""What is released is the same, bit for bit, wherever it is built from a commit."""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

BIN = Path(sys.executable).parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
SBOM = f"patchwright-{VERSION}.cdx.json"


def _git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.com")
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True)


def _clone(folder: Path, *, umask: int = 0o022) -> Path:
    """Return a copy of what would be committed now, as a repository of its own."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard"],
        capture_output=True,
        check=True,
    )
    before = os.umask(umask)
    try:
        for name in filter(None, listed.stdout.decode().split("\0")):
            source, target = ROOT / name, folder / name
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
                target.chmod((source.stat().st_mode & 0o111) | (0o666 & ~umask))
    finally:
        os.umask(before)
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--date=2026-01-01T00:00:00Z", "-m", "All")
    return folder


def _release(
    clone: Path, out: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "scripts/release", out],
        cwd=clone,
        env={"PATH": os.defpath, "BIN": str(BIN), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def _digests(folder: Path) -> dict[str, str]:
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in folder.iterdir()
    }


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    ended = _release(_clone(folder / "clone"), folder / "out")
    assert ended.returncode == 0, ended.stderr
    return folder / "out"


def _clone_again(released: Path, folder: Path) -> Path:
    """Return a clone of what was released, in a tenth of the time."""
    first = released.parent / "clone"
    subprocess.run(["git", "clone", "--quiet", first, folder], check=True)
    return folder


def test_two_builds_of_a_commit_are_the_same(released: Path, tmp_path: Path) -> None:
    clone = _clone_again(released, tmp_path / "elsewhere")
    ended = _release(clone, tmp_path / "out", TZ="Asia/Tokyo", LC_ALL="C")
    assert ended.returncode == 0, ended.stderr
    assert _digests(tmp_path / "out") == _digests(released)


def test_the_checksums_are_those_of_the_files(released: Path) -> None:
    digests = _digests(released)
    del digests["SHA256SUMS"]
    lines = (released / "SHA256SUMS").read_text().splitlines()
    assert {name: digest for digest, name in map(str.split, lines)} == digests
    assert set(digests) == {
        SBOM,
        f"patchwright-{VERSION}-py3-none-any.whl",
        f"patchwright-{VERSION}.tar.gz",
    }


def test_the_list_of_parts_names_every_pinned_package(released: Path) -> None:
    parts = json.loads((released / SBOM).read_text())
    named = {one["name"].lower() for one in parts["components"]}
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = {line.partition("==")[0] for line in lock if "==" in line}
    assert pinned
    assert {name.partition("[")[0] for name in pinned} <= named
    assert parts["metadata"]["component"]["version"] == VERSION


def test_wheel_and_archive_have_what_the_program_reads(released: Path) -> None:
    wheel = released / f"patchwright-{VERSION}-py3-none-any.whl"
    inside = set(zipfile.ZipFile(wheel).namelist())
    ours = subprocess.run(
        ["git", "-C", released.parent / "clone", "ls-files", "patchwright"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(ours.stdout.splitlines()) <= inside
    with tarfile.open(released / f"patchwright-{VERSION}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"requirements.lock", "action.yml", "LICENSE", "CHANGELOG.md"} <= names


def test_what_is_not_committed_is_not_released(released: Path, tmp_path: Path) -> None:
    clone = _clone_again(released, tmp_path / "clone")
    (clone / "README.md").write_text("changed")
    ended = _release(clone, tmp_path / "out")
    assert ended.returncode != 0
    assert "not committed" in ended.stderr


def test_a_version_that_the_changelog_does_not_have_is_not_released(
    released: Path, tmp_path: Path
) -> None:
    clone = _clone_again(released, tmp_path / "clone")
    (clone / "CHANGELOG.md").write_text("# Changelog\n")
    _git(clone, "commit", "--quiet", "--all", "-m", "Forget")
    ended = _release(clone, tmp_path / "out")
    assert ended.returncode != 0
    assert f"[{VERSION}]" in ended.stderr


def test_a_tag_of_another_version_is_not_released(
    released: Path, tmp_path: Path
) -> None:
    clone = _clone_again(released, tmp_path / "clone")
    _git(clone, "tag", "v99.0.0")
    ended = _release(clone, tmp_path / "out")
    assert ended.returncode != 0
    assert "v99.0.0" in ended.stderr
