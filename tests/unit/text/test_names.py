"""Branch names are accepted by git and harmless in a shell."""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchwright.core.text.branch_names import branch_name, slug


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ('Fix (core): läuft nicht 🚀 / "x"', "patchwright/123-fix-core-lauft-nicht-x"),
        ("Fix core", "patchwright/123-fix-core"),
        ("Größe & Øre don't fit", "patchwright/123-grosse-ore-dont-fit"),
        ("修复解析器", "patchwright/123-change"),
        ("", "patchwright/123-change"),
        ("--force; rm -rf $HOME", "patchwright/123-force-rm-rf-home"),
        ("../../etc/passwd.lock", "patchwright/123-etc-passwd-lock"),
        ("x" * 300, "patchwright/123-" + "x" * 40),
        ("word " * 30, "patchwright/123-word-word-word-word-word-word-word-word"),
    ],
)
def test_s46_a_branch_is_named_after_the_title(title: str, name: str) -> None:
    assert branch_name("123", title) == name


@given(st.text(max_size=80))
def test_s46_a_name_is_ascii_short_and_not_empty(title: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(title))
    assert len(slug(title)) <= 40


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=60))
def test_s46_git_accepts_every_name(title: str) -> None:
    name = branch_name("7", title)
    checked = subprocess.run(
        ["git", "check-ref-format", "--branch", name],
        capture_output=True,
        text=True,
        check=True,
    )
    assert checked.stdout.strip() == name
