"""Follow a tutorial, step by step, and hold what comes of it against what it says."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from patchwright.core.system.clock import SystemClock
from tests.architecture.tree import ROOT
from tests.provision.errors import ProvisionError
from tests.provision.waiting import wait_until
from tests.tutorials.expecting import ANYTHING, is_in_networks, is_seen
from tests.tutorials.machine import LONG_S, Machine
from tests.tutorials.page import (
    ByHand,
    Commands,
    PageError,
    Shown,
    Step,
    Written,
    read_page,
)
from tests.tutorials.shell import Shell
from tests.tutorials.world import World

PAGES = ROOT / "docs" / "tutorials"
SECTION = re.compile(r"\[([\w.]+)\]")
CLOCK = SystemClock()
# What stands for a value of the reader's, such as `sk-ant-…`.
PLACEHOLDER = re.compile(rf"[^\s=\"']*{ANYTHING}")
SETTING = re.compile(r"(\w+)\s*=.*")


@dataclass(frozen=True)
class Place:
    """The reader's machine, and the world around it."""

    machine: Machine
    world: World


Hand = Callable[[Place], None]


def follow(page: str, place: Place, hands: Mapping[str, Hand]) -> None:
    """Do all that a tutorial says; `hands` do what it says of other places."""
    follow_file(PAGES / f"{page}.md", place, hands)


def follow_file(
    file: Path, place: Place, hands: Mapping[str, Hand], *, is_fresh: bool = False
) -> None:
    """Do all that a page says; each block in a new terminal if `is_fresh`."""
    page, steps = file.stem, read_page(file)
    asked = {step.name for step in steps if isinstance(step, ByHand)}
    if asked != hands.keys():
        raise PageError(f"{page}: {sorted(asked ^ hands.keys())} are not on both sides")
    reader, started = _Reader(place, hands, is_fresh), CLOCK.now()
    for step in steps:
        try:
            reader.take(step)
        except (AssertionError, ProvisionError) as problem:
            raise AssertionError(f"{page}.md, line {step.line}: {problem}") from problem
        # Seen with `pytest -rP`, by who writes on the page how long it takes.
        passed = (CLOCK.now() - started).total_seconds()
        sys.stdout.write(f"{page}.md, line {step.line}: after {passed:.0f} s\n")


@dataclass
class _Reader:
    place: Place
    hands: Mapping[str, Hand]
    is_fresh: bool = False
    watched: Shell | None = None
    is_left: bool = False

    def take(self, step: Step) -> None:
        match step:
            case Commands():
                self._type(step)
            case Shown():
                self._look(step.text)
            case Written():
                self._write(step)
            case ByHand():
                self.hands[step.name](self.place)
            case _:
                assert_never(step)

    def _type(self, step: Commands) -> None:
        own = f"line {step.line}" if self.is_fresh else ""
        self.watched = self.place.machine.terminal(step.terminal or own)
        self.is_left = bool(step.terminal)
        self.watched.type(PLACEHOLDER.sub(self._own_value, step.text))
        if not self.is_left:
            self.watched.finish(LONG_S)

    def _own_value(self, placeholder: re.Match[str]) -> str:
        is_address = placeholder[0].startswith("https://")
        name = "server.public_url" if is_address else "llm.api_key"
        return self.place.world.values[name]

    def _write(self, step: Written) -> None:
        own = {"": self.place.world.values.get(step.file, "")}
        text = fill_in(step.text, {**self.place.world.values, **own})
        if step.file.endswith(".env"):
            self.place.machine.set(step.file, text)
        else:
            self.place.machine.append(step.file, text)

    def _look(self, expected: str) -> None:
        shell = self.watched
        if shell is None:
            raise AssertionError("nothing was typed that could say this")
        if self.is_left:
            seen = f"{expected}\nis not in\n"
            try:
                wait_until(lambda: is_in_networks(expected, shell.output), seen, LONG_S)
            except ProvisionError as late:
                raise AssertionError(f"{late}\n{shell.output}") from late
        elif not is_seen(expected, shell.output):
            raise AssertionError(f"expected:\n{expected}\nseen:\n{shell.output}")


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Put the reader's own values where a file has `…`, alone or for a setting."""
    section, filled = "", []
    for line in text.split("\n"):
        if opened := SECTION.fullmatch(line):
            section = f"{opened[1]}."
        if ANYTHING in line:
            named = SETTING.fullmatch(line)
            own = values[section + named[1] if named else ""]
            filled.append(PLACEHOLDER.sub(own, line))
        else:
            filled.append(line)
    return "\n".join(filled)
