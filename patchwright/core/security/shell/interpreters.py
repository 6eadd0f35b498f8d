"""The rules for programs that run code: shells and other languages."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from patchwright.core.security.analyzer import (
    LOW_RISK,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
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
