"""Write `docs/commands.md`, the reference of what people may say to a run."""

from typing import Final

from patchwright.core.commands import Verb, definition_of, help_text

_ABOUT: Final = """\
# Commands

A command comes directly after the mention, in every service, with no other words than
for example `stop it, please`. Any other text is a request; while a run works, it goes
to the agent.

While a run waits for you, a comment without a mention is the answer, from anybody who
may start runs: `approve`, a number, or your own words. A comment that begins with a
mention of another person is for that person, and an edit answers nothing. Somebody
else gets only a reaction.

The same commands can be given on the page of the run, and with `patchwright runs` on
the command line. `confirm` is another word for `approve`.

Commands that only ask start no run and cost nothing. A mention alone, or with a
greeting, shows the help:
"""
_TABLE: Final = """\
| command | what may follow | while a run works | while none works | who may |
|---|---|---|---|---|"""


def page() -> str:
    quoted = [f"> {line}".rstrip() for line in help_text("@patchwright").splitlines()]
    return "\n".join([_ABOUT, *quoted, "", _TABLE, *map(_row, Verb)]) + "\n"


def _row(verb: Verb) -> str:
    command = definition_of(verb)
    cells = (
        f"`{verb}`",
        command.argument,
        command.while_running.words,
        command.when_idle.words,
        command.access,
    )
    return f"| {' | '.join(cells)} |"
