"""The risk of a shell script, judged by all that it would run."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from patchwright.core.security.analyzer import (
    LOW_RISK,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
from patchwright.core.security.hosts import METADATA, HostKind, host_of, kind_of_host
from patchwright.core.security.paths import (
    REPOSITORY,
    UNKNOWN_PART,
    judge_read,
    judge_write,
)
from patchwright.core.security.shell.network import NETWORK_RULES, SENDS
from patchwright.core.security.shell.reader import read_script
from patchwright.core.security.shell.script import (
    ProgramCall,
    ProgramRules,
    Redirect,
    ShellCommand,
    ShellWord,
    UnreadableError,
)
from patchwright.core.security.shell.system import SYSTEM_RULES
from patchwright.core.security.shell.words import AT_FIRST, ShellScope
from patchwright.core.security.shell.wrappers import (
    INTERPRETER_RULES,
    is_plain_text,
    judge_generated,
    scripts_in,
    wrapped_commands,
)

PROGRAM_RULES: Final[ProgramRules] = {
    **SYSTEM_RULES,
    **NETWORK_RULES,
    **INTERPRETER_RULES,
}

# They show or compute something; their file arguments are judged as paths.
_READING: Final = """
    ls cat head tail less more grep egrep fgrep rg ag wc sort uniq cut tr diff cmp comm
    file stat du df tree pwd cd pushd popd dirs echo printf true false : test [ [[ expr
    seq date cal which whereis type hash id whoami groups uname hostname uptime ps top
    free lscpu nproc env printenv export declare typeset readonly local set unset shopt
    read jobs wait bg fg disown sleep basename dirname realpath readlink md5sum sha1sum
    sha256sum sha512sum cksum base64 xxd od hexdump strings jq yq column fold fmt nl
    paste join rev tac expand split csplit yes exit return break continue shift let
    getopts ulimit umask help man info history locale tput stty clear xargs lsof ss
    netstat ip ifconfig getconf ldd nm objdump readelf size zcat zgrep gzip gunzip bzip2
    xz zip zstd patch mktemp envsubst iconv dos2unix unix2dos tsort shuf numfmt cloc
    bc dc factor pgrep pidof script look
"""
# They build and test the repository: its own code runs, which is what the run is for.
_BUILDING: Final = """
    pytest py.test tox nox unittest coverage mypy ruff black isort flake8 pylint pyright
    pre-commit make cmake ninja meson bazel gcc g++ cc clang clang++ ld ar rustc rustup
    javac java mvn gradle gradlew mvnw sbt kotlinc scala dotnet msbuild swift xcodebuild
    tsc eslint prettier jest vitest mocha karma webpack vite rollup esbuild turbo nx
    lerna rake rspec rails rubocop phpunit ghc stack cabal elixir mix erl rebar3 dune
    ocaml opam zig nim crystal julia gofmt golangci-lint clippy rustfmt autoconf
    automake configure pkg-config sphinx-build mkdocs pandoc django-admin flask
    gunicorn uvicorn alembic celery sqlite3 psql mysql redis-cli shellcheck shfmt
    yamllint hadolint
"""
KNOWN: Final = frozenset((_READING + _BUILDING).split())

# What they are given is text to them, not the names of files.
SPEAKING: Final = frozenset({"echo", "printf", "true", "false", ":", "export", "expr"})


DEEPEST: Final = 8
MAX_COMMANDS: Final = 3_000
# Reading a script takes about as long as judging so many commands.
SCRIPT_COST: Final = 10
# The parser takes the square of the time where there are many of these.
_BRANCHES: Final = "|("
MAX_BRANCHES: Final = 3_000

_UNREADABLE: Final = high_risk("It cannot be read as a shell script.")
_TOO_DEEP: Final = high_risk("It hides commands within commands, too many to follow.")
_HIDDEN: Final = high_risk("It hides which program it runs.")
# `python3.11` and `mkfs.ext4` are judged as `python` and `mkfs`.
_VARIANT: Final = re.compile(
    r"(python|ipython|pypy|pip|node|ruby|perl)[\d.]+|(mkfs)\..*", re.DOTALL
)
# What a file is named by in `--file=path`, `of=path`, `@path` and `name=@path`.
_NAMED_FILE: Final = re.compile(r"(?:-{0,2}[\w-]+=@?|@)(.+)", re.DOTALL)
_SOCKET: Final = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")


def judge_script(text: str, stdin: str = "") -> Verdict:
    """Judge a script; `stdin` is what its commands may read.

    A script that cannot be parsed is HIGH: an attacker would write it so.
    """
    return _Judge().script(text, ShellScope(REPOSITORY, AT_FIRST), stdin or None, 0)


class _Judge:
    """Judges one script with all that it runs, up to a bound of depth and number."""

    def __init__(self) -> None:
        self._left = MAX_COMMANDS

    def script(
        self, text: str, scope: ShellScope, stdin: str | None, depth: int
    ) -> Verdict:
        self._left -= SCRIPT_COST
        if depth > DEEPEST or self._left < 0:
            return _TOO_DEEP
        if sum(map(text.count, _BRANCHES)) > MAX_BRANCHES:
            return _TOO_DEEP
        try:
            commands = read_script(text.replace(UNKNOWN_PART, "${_}"), scope)
        except UnreadableError:
            return _UNREADABLE
        fed = (_fed(command, stdin) for command in commands)
        return worst_verdict(self._command(command, depth) for command in fed)

    def _command(self, command: ShellCommand, depth: int) -> Verdict:
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            return _TOO_DEEP
        call = ProgramCall(
            command=command,
            run=lambda text, by: self.script(
                text, ShellScope(by.folder, by.values), None, depth + 1
            ),
            start=lambda inner: self._command(inner, depth + 1),
        )
        inside = [
            *map(call.start, wrapped_commands(command)),
            *(call.run(script, command) for script in scripts_in(command)),
        ]
        redirects = (_judge_redirect(one, command.folder) for one in command.redirects)
        program = _judge_program(call, is_wrapper=bool(inside))
        return worst_verdict([program, *inside, *redirects, *_judge_words(command)])


def _fed(command: ShellCommand, stdin: str | None) -> ShellCommand:
    if stdin is None or command.stdin is not None or command.piped_from:
        return command
    return replace(command, stdin=stdin)


def _judge_program(call: ProgramCall, *, is_wrapper: bool) -> Verdict:
    if call.command.forks:
        return high_risk("It starts processes without an end.")
    if not call.command.words:
        return LOW_RISK
    first = call.command.words[0]
    if first.tricky or not first.is_known:
        return _judge_hidden(first)
    if rule := PROGRAM_RULES.get(_plain_name(call.name)):
        return rule(call)
    # What stands in a folder is the repository's own, as its tests are.
    if call.name in KNOWN or is_wrapper or "/" in first.text:
        return LOW_RISK
    return medium_risk("It runs an unknown program.")


def _plain_name(name: str) -> str:
    found = _VARIANT.fullmatch(name)
    return (found[1] or found[2]) if found else name


def _judge_hidden(word: ShellWord) -> Verdict:
    if word.tricky or (word.inner and is_plain_text(word.inner)):
        return _HIDDEN
    unknown = medium_risk("Which program it runs is only known when it is run.")
    return worst_verdict([unknown, judge_generated(word.inner)])


def _judge_redirect(redirect: Redirect, folder: str) -> Verdict:
    path = redirect.target.text
    if found := _SOCKET.match(path):
        return LOW_RISK if kind_of_host(found[1]) is HostKind.OWN else SENDS
    if redirect.operator == "<":
        return judge_read(path, folder)
    if redirect.operator.endswith("&") and path.rstrip("-").isdigit():
        return LOW_RISK
    if path.startswith(UNKNOWN_PART):
        return medium_risk("It writes a file whose name is only known when it is run.")
    return judge_write(path, folder)


def _judge_words(command: ShellCommand) -> Iterator[Verdict]:
    """Judge what every program may do with the paths and addresses it is given."""
    if command.name in SPEAKING:
        return
    for word in command.arguments:
        named = _NAMED_FILE.fullmatch(word.text)
        for text in (word.text, named[1]) if named else (word.text,):
            yield judge_read(text, command.folder)
            if kind_of_host(host_of(text)) is HostKind.METADATA:
                yield high_risk(METADATA)
