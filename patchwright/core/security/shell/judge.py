"""Judge a shell script by all that it would run."""

import re
from dataclasses import replace
from typing import Final

from patchwright.core.security.addresses import Host, host_of, kind_of
from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.paths import (
    REPOSITORY,
    SOMETHING,
    judge_read,
    judge_write,
)
from patchwright.core.security.shell import network
from patchwright.core.security.shell.call import Call
from patchwright.core.security.shell.deleting import is_make_file_system
from patchwright.core.security.shell.interpreters import judge_generated
from patchwright.core.security.shell.programs import KNOWN, RULES, SPEAKING
from patchwright.core.security.shell.reader import UnreadableError, read_script
from patchwright.core.security.shell.scope import AT_FIRST, Scope
from patchwright.core.security.shell.script import Command, Redirect, Word
from patchwright.core.security.shell.wrappers import scripts_in, unwrapped
from patchwright.core.security.verdicts import LOW, high, medium, worst

DEEPEST: Final = 8

_UNREADABLE: Final = high("It cannot be read as a shell script.")
_NAMED_FILE: Final = re.compile(r"(?:^--?[\w-]+=|^\w+=|^@|=@)(.+)")
_TO_A_SOCKET: Final = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")
_UNVERSIONED: Final = re.compile(r"\A(python|ipython|pypy|pip|node|ruby|perl)[\d.]+\Z")


def judge_script(text: str, stdin: str = "") -> Verdict:
    """Judge a script; `stdin` is what its commands may read."""
    verdict = _judge_text(text, Scope(REPOSITORY, AT_FIRST), stdin or None, 0)
    return verdict


def _judge_text(text: str, scope: Scope, stdin: str | None, depth: int) -> Verdict:
    if depth > DEEPEST:
        return high("It hides commands within commands, too deep to follow.")
    try:
        commands = read_script(text.replace(SOMETHING, "${_}"), scope)
    except UnreadableError:
        return _UNREADABLE
    return worst(_judge(_fed(command, stdin), depth) for command in commands)


def _fed(command: Command, stdin: str | None) -> Command:
    if command.stdin is None and not command.piped_from and stdin is not None:
        return replace(command, stdin=stdin)
    return command


def _judge(command: Command, depth: int) -> Verdict:
    if depth > DEEPEST:
        return high("It hides commands within commands, too deep to follow.")
    call = Call(
        command=command,
        run=lambda text, of: _judge_text(
            text, Scope(of.folder, of.values), None, depth + 1
        ),
        start=lambda inner: _judge(inner, depth + 1),
    )
    inside = [call.start(inner) for inner in unwrapped(command)]
    scripts = [call.run(script, command) for script in scripts_in(command)]
    return worst(
        [
            *inside,
            *scripts,
            *map(
                _judge_redirect,
                [command.folder] * len(command.redirects),
                command.redirects,
            ),
            *_judge_words(command),
            _judge_program(call, is_wrapper=bool(inside or scripts)),
        ]
    )


def _judge_program(call: Call, *, is_wrapper: bool) -> Verdict:
    command = call.command
    if command.forks:
        return high("It starts processes without an end.")
    if not command.words:
        return LOW
    name = _UNVERSIONED.sub(r"\1", call.name)
    first = command.words[0]
    if not first.is_known or first.tricky:
        return _judge_hidden(first)
    if is_make_file_system(name):
        return RULES["mkfs"](call)
    if name in RULES:
        return RULES[name](call)
    if name in KNOWN or is_wrapper or "/" in first.text:
        return LOW
    return medium("It runs a program that nothing is known of.")


def _judge_hidden(word: Word) -> Verdict:
    if word.tricky:
        return high("It hides which program it runs.")
    return worst(
        [
            medium("Which program it runs is only known then."),
            judge_generated(word.inner),
        ]
    )


def _judge_redirect(folder: str, redirect: Redirect) -> Verdict:
    path = redirect.target.text
    if found := _TO_A_SOCKET.match(path):
        return LOW if kind_of(found[1]) is Host.OWN else high(network.SENDS)
    if redirect.operator == "<":
        return judge_read(path, folder)
    if redirect.operator.endswith("&") and path.isdigit():
        return LOW
    if not redirect.target.is_known:
        return medium("It writes a file whose name is only known when it is run.")
    return judge_write(path, folder)


def _judge_words(command: Command) -> list[Verdict]:
    """Judge what every program may do with the paths and addresses it is given."""
    if command.name in SPEAKING:
        return []
    return [
        verdict
        for word in command.arguments
        for text in (word.text, *_NAMED_FILE.findall(word.text))
        for verdict in (judge_read(text, command.folder), _judge_address(text))
    ]


def _judge_address(text: str) -> Verdict:
    is_address = kind_of(host_of(text)) is Host.METADATA
    return high(network.METADATA) if is_address else LOW
