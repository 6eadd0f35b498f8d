"""The programs that run another one, and those that run code: shells and languages."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from patchwright.core.security.analyzer import (
    LOW_RISK,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
from patchwright.core.security.paths import UNKNOWN_PART
from patchwright.core.security.python_code import judge_python
from patchwright.core.security.shell.network import FETCHERS, PIP, PUBLISHES
from patchwright.core.security.shell.script import (
    ProgramCall,
    ProgramRules,
    ShellCommand,
    ShellWord,
    for_programs,
    names_in,
)
from patchwright.core.security.shell.words import without_escapes


@dataclass(frozen=True)
class Wrapper:
    """`valued` are options with a value; `operands` come before the other program.

    A `subcommand` has to be there, as the first of those.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    subcommand: str = ""


def _wrappers(
    names: str, valued: str = "", operands: int = 0, subcommand: str = ""
) -> dict[str, Wrapper]:
    wrapper = Wrapper(frozenset(valued.split()), operands, subcommand)
    return dict.fromkeys(names.split(), wrapper)


_UV: Final = "--with --python -p --project --directory --env-file --extra --group"

WRAPPERS: Final = {
    **_wrappers("nohup setsid command builtin coproc eatmydata unbuffer fakeroot"),
    **_wrappers("chronic coverage busybox unshare ltrace dbus-run-session torsocks"),
    **_wrappers("proxychains"),
    **_wrappers("exec", "-a"),
    **_wrappers("env", "-u --unset -C --chdir -a --argv0"),
    **_wrappers("timeout gtimeout", "-s --signal -k --kill-after", operands=1),
    **_wrappers("nice", "-n --adjustment"),
    **_wrappers("ionice", "-c -n -p -P -u"),
    **_wrappers("chrt taskset setarch faketime chroot", operands=1),
    **_wrappers("stdbuf", "-i -o -e --input --output --error"),
    **_wrappers("strace", "-o -e -p -s -u -E"),
    **_wrappers("time", "-f -o --format --output"),
    **_wrappers("xargs", "-I -n -P -d -L -s -a -E --max-args --max-procs --delimiter"),
    **_wrappers("parallel", "-j --jobs -N -I"),
    **_wrappers("watch", "-n --interval"),
    **_wrappers("flock", "-w --timeout -E", operands=1),
    **_wrappers("sudo", "-u -g -h -p -C -r -t -U -D -R -T"),
    **_wrappers("doas", "-u -C"),
    **_wrappers("xvfb-run", "-n -s -f -e -w -p"),
    **_wrappers("uv", _UV, operands=1, subcommand="run"),
    **_wrappers("poetry", "-C -P --directory --project", operands=1, subcommand="run"),
    **_wrappers("pipenv rye", operands=1, subcommand="run"),
    **_wrappers("pdm", "-p --project", operands=1, subcommand="run"),
    **_wrappers("hatch", "-e --env", operands=1, subcommand="run"),
    **_wrappers("bundle", operands=1, subcommand="exec"),
    **_wrappers("conda", "-n -p --name --prefix", operands=1, subcommand="run"),
}

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_FIND_RUNS: Final = {"-exec", "-execdir", "-ok", "-okdir"}
_RUN_SCRIPTS: Final = {"su", "runuser", "script", "flock"}
_SCRIPT_OPTIONS: Final = {"-c", "--command"}
_SPLIT: Final = re.compile(r"(?:-[iv0]*S|--split-string=?)(.*)", re.DOTALL)


def wrapped_commands(command: ShellCommand) -> Iterator[ShellCommand]:
    """Yield the commands that this one runs, as far as they stand in its arguments."""
    if command.name == "find":
        yield from _of_find(command)
    elif wrapper := WRAPPERS.get(command.name):
        words = _behind(command, wrapper)
        if command.name == "xargs":
            words = (*words, *_given(command))
        if words:
            yield _with_words(command, words)
    elif command.words[1:] and not command.words[0].is_known:
        # What is not known may turn out to be nothing at all.
        yield _with_words(command, command.words[1:])


def scripts_in(command: ShellCommand) -> Iterator[str]:
    """Yield the scripts in the arguments of what is no shell itself."""
    texts = [word.text for word in command.arguments]
    for at, text in enumerate(texts):
        if command.name in _RUN_SCRIPTS and text in _SCRIPT_OPTIONS:
            yield "".join(texts[at + 1 : at + 2])
        if command.name == "env" and (split := _SPLIT.fullmatch(text)):
            yield " ".join([split[1], *texts[at + 1 :]])
    if command.name in {"watch", "parallel"}:
        words = _behind(command, WRAPPERS[command.name])
        yield " ".join(word.text for word in words)


def start_folders(find: ShellCommand) -> list[str]:
    """Return the folders that `find` starts at."""
    texts = [word.text for word in find.arguments]
    ends = (at for at, text in enumerate(texts) if text[:1] in {"-", "(", "!"})
    return texts[: next(ends, len(texts))] or ["."]


def _behind(command: ShellCommand, wrapper: Wrapper) -> tuple[ShellWord, ...]:
    words = command.arguments
    at, operands = 0, wrapper.operands
    while at < len(words):
        text = words[at].text
        if text.startswith("-") and len(text) > 1:
            at += 2 if text in wrapper.valued else 1
        elif command.name == "env" and _ASSIGNMENT.match(text):
            at += 1
        elif not operands:
            return words[at:]
        elif wrapper.subcommand not in {"", text}:
            return ()
        else:
            at, operands = at + 1, operands - 1
    return ()


def _given(command: ShellCommand) -> tuple[ShellWord, ...]:
    """Return what `xargs` adds, as far as it stands in the pipe before it."""
    last = command.piped_from[-1] if command.piped_from else None
    if last is not None and last.name in {"echo", "printf"}:
        return tuple(
            replace(word, text=text)
            for word in last.arguments
            for text in without_escapes(word.text).replace(UNKNOWN_PART, " ").split()
        )
    if last is not None and last.name == "find":
        return tuple(
            ShellWord(text=f"{one}/{UNKNOWN_PART}") for one in start_folders(last)
        )
    return (ShellWord(text=UNKNOWN_PART),)


def _of_find(command: ShellCommand) -> Iterator[ShellCommand]:
    words = command.arguments
    found = [f"{start}/{UNKNOWN_PART}" for start in start_folders(command)]
    for at, word in enumerate(words):
        if word.text in _FIND_RUNS:
            ends = (n for n in range(at, len(words)) if words[n].text in {";", "+"})
            run = words[at + 1 : next(ends, len(words))]
            yield _with_words(command, tuple(_filled(run, found)))


def _filled(words: tuple[ShellWord, ...], found: list[str]) -> Iterator[ShellWord]:
    for word in words:
        if "{}" not in word.text:
            yield word
            continue
        for path in found:
            yield replace(word, text=word.text.replace("{}", path))


def _with_words(command: ShellCommand, words: tuple[ShellWord, ...]) -> ShellCommand:
    return replace(command, words=words, redirects=())


_RUNS_UNKNOWN: Final = medium_risk("It runs code that is only known when it is run.")
_RUNS_HIDDEN: Final = high_risk("It runs code that is hidden in another form.")

_DECODERS: Final = names_in(
    """
    base64 base32 basenc xxd od hexdump uudecode openssl gpg gunzip gzip zcat bzcat
    xzcat rev tr cut sed awk perl python python3 ruby node
    """
)
_SPEAKING: Final = frozenset({"echo", "printf"})
_FORMATS: Final = frozenset({"-e", "-n", "-ne", "-en", "%s", "%s\\n", "%b", "--"})


def judge_generated(sources: Iterable[ShellCommand]) -> Verdict:
    """Judge that the output of commands is run as a script.

    Plain text in them is handled by `texts_of`, and judged separately.
    """
    every = list(ShellCommand(words=(), folder="", piped_from=tuple(sources)).sources())
    names = {one.name for one in every}
    if names & FETCHERS:
        return high_risk("It runs what it downloads.")
    if names & _DECODERS:
        return _RUNS_HIDDEN
    return LOW_RISK if is_plain_text(every) else _RUNS_UNKNOWN


def is_plain_text(sources: Iterable[ShellCommand]) -> bool:
    return all(
        source.name in _SPEAKING or source.stdin is not None for source in sources
    )


def texts_of(sources: Iterable[ShellCommand]) -> Iterator[str]:
    """Yield what commands print, as far as it stands in them."""
    for source in sources:
        if source.name in _SPEAKING:
            words = (w.text for w in source.arguments if w.text not in _FORMATS)
            yield without_escapes(" ".join(words))
        if source.stdin is not None:
            yield source.stdin


_VALUED: Final = {"-o", "+o", "-O", "--rcfile", "--init-file"}
_STANDARD_INPUT: Final = {"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0", "-"}


def code_given(call: ProgramCall, letter: str) -> ShellWord | None:
    """Return the code behind an option such as `-c`, also as one letter of several."""
    has_letter = re.compile(rf"-[a-zA-Z]*{letter}[a-zA-Z]*\Z")
    for at, word in enumerate(call.arguments):
        if has_letter.match(word.text):
            rest = call.arguments[at + 1 :]
            return next((one for one in rest if one.text[:1] not in {"-", "+"}), None)
    return None


def _judge_input(call: ProgramCall, judge: Callable[[str], Verdict]) -> Verdict:
    """Judge the code that comes by standard input."""
    if call.command.stdin is not None:
        return judge(call.command.stdin)
    sources = call.command.piped_from
    return worst_verdict([*map(judge, texts_of(sources)), judge_generated(sources)])


def _shell(call: ProgramCall) -> Verdict:
    script = code_given(call, "c")
    if script is not None:
        return _judge_script(call, script)
    files = call.operands(_VALUED)
    if not files or call.has("-s") or files[0].text in _STANDARD_INPUT:
        return _judge_input(call, _script_judge(call))
    return judge_generated(files[0].inner)


def _script_judge(call: ProgramCall) -> Callable[[str], Verdict]:
    return lambda script: call.run(script, call.command)


def _judge_script(call: ProgramCall, script: ShellWord) -> Verdict:
    unknown = LOW_RISK if script.is_known else _RUNS_UNKNOWN
    made = judge_generated(script.inner) if script.inner else unknown
    return worst_verdict([call.run(script.text, call.command), made])


def _evaluate(call: ProgramCall) -> Verdict:
    script = " ".join(call.texts)
    inner = tuple(command for word in call.arguments for command in word.inner)
    return _judge_script(call, ShellWord(text=script, inner=inner))


def _source(call: ProgramCall) -> Verdict:
    for file in call.operands()[:1]:
        if not file.inner and file.text in _STANDARD_INPUT:
            return _judge_input(call, _script_judge(call))
        return judge_generated(file.inner)
    return LOW_RISK


def _trap(call: ProgramCall) -> Verdict:
    return call.run(call.texts[0], call.command) if len(call.texts) > 1 else LOW_RISK


def _alias(call: ProgramCall) -> Verdict:
    scripts = (text.partition("=")[2] for text in call.texts)
    return worst_verdict(call.run(script, call.command) for script in scripts if script)


_SERVES: Final = medium_risk("It serves files to other machines.")
_MODULES: Final[ProgramRules] = for_programs(
    ("pip", PIP), ("twine", PUBLISHES), ("http.server SimpleHTTPServer smtpd", _SERVES)
)
_CODE_OPTIONS: Final = (
    "-e", "-E", "-r", "-p", "-pe", "-ne", "-ane", "-le", "-lne", "--eval", "--print",
)  # fmt: skip
# Words that start programs, use the network or delete, in any of these languages.
_STARTS_OTHERS: Final = re.compile(
    r"child_process|\bexec\w*\b|\bsystem\b|\bspawn\w*\b|\bpopen\b|`|\bqx\b|/inet/"
    r"|\bsocket|\bnet\.|\bhttps?\b|\bfetch\(|\|\s*getline|\beval\b|\bunlink|\brmtree"
    r"|\brm(?:dir)?Sync|\bFileUtils|TCPSocket|\bLWP\b|print[^;]*\|",
    re.IGNORECASE,
)
_MAY_DO_ANYTHING: Final = high_risk(
    "Its code may start programs, use the network or delete files."
)


def _python(call: ProgramCall) -> Verdict:
    def judge(code: str) -> Verdict:
        return judge_python(code, _script_judge(call))

    if "-m" in call.texts[:-1]:
        module = call.texts[call.texts.index("-m") + 1]
        return _MODULES[module](call) if module in _MODULES else LOW_RISK
    code = code_given(call, "c")
    if code is not None:
        return worst_verdict([judge(code.text), judge_generated(code.inner)])
    files = call.operands()
    if files and files[0].text != "-":
        return judge_generated(files[0].inner)
    return _judge_input(call, judge)


def _other_code(call: ProgramCall) -> Verdict:
    """Judge code in a language that is not parsed here."""
    code = [word.text for word in call.values_of(*_CODE_OPTIONS)]
    if call.command.stdin is not None:
        code.append(call.command.stdin)
    if not code:
        return LOW_RISK if call.operands() else judge_generated(call.command.piped_from)
    if any(map(_STARTS_OTHERS.search, code)):
        return _MAY_DO_ANYTHING
    return medium_risk("It runs code in a language that is not looked into.")


def _awk(call: ProgramCall) -> Verdict:
    return _MAY_DO_ANYTHING if any(map(_STARTS_OTHERS.search, call.texts)) else LOW_RISK


INTERPRETER_RULES: Final[ProgramRules] = for_programs(
    ("sh bash dash zsh ksh ash fish rbash busybox", _shell),
    ("source .", _source),
    ("eval", _evaluate),
    ("trap", _trap),
    ("alias", _alias),
    ("python ipython pypy", _python),
    ("node nodejs deno perl ruby php lua Rscript tclsh", _other_code),
    ("awk gawk mawk nawk", _awk),
)
