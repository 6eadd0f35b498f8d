"""The help of every command: its options look alike, and nothing is broken in two."""

import re

import pytest
import typer
from typer.core import TyperOption

from patchwright.workers.cli.help_text import walk_commands
from patchwright.workers.cli.main import make_app
from patchwright.workers.cli.reference import read_commands
from patchwright.workers.cli.resolve_command import read_minutes


def test_no_type_of_python_is_shown() -> None:
    for command in read_commands():
        for one in (*command.arguments, *command.options):
            assert "<" not in one.written, (command.name, one.written)


def test_every_command_has_help_under_both_names_and_values_in_capitals() -> None:
    for context in walk_commands(make_app()):
        command = context.command
        option = command.get_help_option(context)
        assert option is not None
        assert sorted(option.opts) == ["--help", "-h"], command.name
        for one in command.params:
            if isinstance(one, TyperOption) and not (one.is_flag or one.hidden):
                assert re.fullmatch(r"[A-Z][A-Z/]*", one.metavar or ""), one.opts


@pytest.mark.parametrize(
    ("typed", "minutes"),
    [("20", 20), ("0.5", 0.5), ("90s", 1.5), ("45m", 45), ("1h", 60), ("1h30m", 90)],
)
def test_a_time_is_in_minutes_or_has_a_unit(typed: str, minutes: float) -> None:
    assert read_minutes(typed) == minutes


@pytest.mark.parametrize("typed", ["", "soon", "3x", "-1", "1m1h", "h"])
def test_any_other_time_is_refused(typed: str) -> None:
    with pytest.raises(typer.BadParameter) as found:
        read_minutes(typed)
    assert found.value.message == (
        f"{typed!r} is not a time; use minutes, or 90s, 45m, 1h or 1h30m"
    )
