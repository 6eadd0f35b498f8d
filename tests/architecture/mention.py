"""Find out which of the product's files take part in the story of one mention."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from patchwright.core.llm.library import load_litellm
from tests.architecture.figures import PACKAGE
from tests.architecture.tree import ROOT
from tests.fakes.llm.turns import TurnLike
from tests.flow.story import REPO, fix_turns, telling

REQUEST = "@patchwright please fix the sum, 3 pieces cost 450"


@dataclass
class Executed:
    """The files whose functions ran: until the model was first asked, and in all."""

    before_model: frozenset[str] = frozenset()
    files: set[str] = field(default_factory=set)


def run_mention(folder: Path) -> Executed:
    """Let the service make a pull request of a comment, and watch it."""
    executed = Executed()
    turns = iter(fix_turns())

    def answer(_request: dict[str, Any]) -> TurnLike:
        executed.before_model = executed.before_model or frozenset(executed.files)
        return next(turns)

    # Watched, its import takes many times as long.
    load_litellm()
    with _watching(executed.files), telling(folder, answer) as story:
        executed.files.clear()
        issue = story.ask(REQUEST)
        story.work()
        [_pull] = story.github.pull_requests(REPO)
        assert story.reply(issue)
    return executed


@contextmanager
def _watching(files: set[str]) -> Iterator[None]:
    """Note the file of each function that begins, also in threads that start now."""
    inside = f"{ROOT / PACKAGE}/"

    def note(frame: FrameType, event: str, _value: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            name = code.co_filename
            if name.startswith(inside):
                files.add(name.removeprefix(f"{ROOT}/"))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
