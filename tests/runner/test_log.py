"""Commands in the output of a step do what they do on GitHub.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

import pytest

from tests.runner.log import Annotation, CommandError, Log


def test_annotations_are_kept() -> None:
    log = Log()
    log.take("::error title=Patchwright,file=a.py::it%0Abroke%25")
    assert log.annotations == [Annotation("error", "it\nbroke%")]


def test_a_secret_is_masked_in_what_comes_later() -> None:
    log = Log()
    log.take("before: hunter2")
    log.take("::add-mask::hunter2")
    log.take("after: hunter2!")
    assert log.lines == ["before: hunter2", "after: ***!"]


def test_each_line_of_a_secret_is_masked() -> None:
    log = Log()
    log.add_secret("first line\nsecond line")
    log.take("::warning::second line")
    assert log.texts("warning") == ["***"]


def test_groups_are_shown() -> None:
    log = Log()
    log.take("::group::Set up")
    log.take("::endgroup::")
    assert log.lines == ["##[group]Set up", "##[endgroup]"]


def test_commands_can_be_stopped_for_a_while() -> None:
    log = Log()
    log.take("::stop-commands::pause")
    log.take("::error::only text")
    log.take("::pause::")
    log.take("::error::again")
    assert log.texts("error") == ["again"]


@pytest.mark.parametrize("name", ["set-output", "save-state", "set-env", "add-path"])
def test_retired_commands_are_refused(name: str) -> None:
    with pytest.raises(CommandError, match="retired"):
        Log().take(f"::{name} name=a::b")


def test_what_is_no_command_is_text() -> None:
    log = Log()
    log.take("std::vector::size")
    log.take("a ::error::b")
    assert log.lines == ["std::vector::size", "a ::error::b"]
