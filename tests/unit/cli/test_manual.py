"""The manual page and the lists of commands are made from the commands themselves."""

import re
import shutil
import subprocess

from patchwright.workers.cli.reference import manual, read_commands
from tests.architecture.tree import ROOT

PAGE = ROOT / "docs/man/patchwright.1"
SECTIONS = [
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "OPTIONS",
    "COMMANDS",
    "ENVIRONMENT",
    "EXIT STATUS",
    "FILES",
]
KNOWN = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi", ".RS", ".RE"}


def test_the_page_has_the_usual_sections_and_no_stray_requests() -> None:
    lines = manual().splitlines()
    assert lines[0].startswith('.TH PATCHWRIGHT 1 "')
    assert [line[4:] for line in lines if line.startswith(".SH ")] == SECTIONS
    assert {line.split()[0] for line in lines if line.startswith((".", "'"))} == KNOWN
    assert [line for line in lines if re.search(r"(?<!\\)-|`|~", line)] == []
    assert "" not in lines


def test_each_command_has_its_place_in_it() -> None:
    _, *commands = read_commands()
    shown = [line[4:] for line in manual().splitlines() if line.startswith(".SS ")]
    assert shown == [one.usage.replace("-", "\\-") for one in commands]
    assert "patchwright runs stop [OPTIONS] {RUN}" in shown


def test_roff_does_not_complain() -> None:
    """Where there is no groff, the tests of its form have to do."""
    groff = shutil.which("groff")
    if groff is not None:
        argv = [groff, "-man", "-Tutf8", "-ww", "-z", str(PAGE)]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        assert done.stderr == ""
