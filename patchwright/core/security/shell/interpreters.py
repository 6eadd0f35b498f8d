"""The rules for what runs code that stands in its arguments or comes as its input."""

import re
from collections.abc import Iterable
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.python_code import judge_python
from patchwright.core.security.shell.call import Call, Rules
from patchwright.core.security.shell.network import FETCHERS
from patchwright.core.security.shell.packages import PIP
from patchwright.core.security.shell.script import Command, Word
from patchwright.core.security.verdicts import LOW, high, medium, worst

SHELLS: Final = ("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "busybox")
_RUNS_DOWNLOAD: Final = "It runs what it downloads."
_RUNS_HIDDEN: Final = "It runs code that is hidden in another form."
_RUNS_UNKNOWN: Final = "It runs code that is only known when it is run."
_STARTS_OTHERS: Final = re.compile(
    r"child_process|\bexec\w*\b|\bsystem\b|\bspawn\w*\b|\bpopen\b|`|\bqx\b|/inet/"
    r"|\bsocket|\bnet\.|\bhttps?\b|\bfetch\(|\|\s*getline|\beval\b|\bunlink|\brmtree"
    r"|\brm(?:dir)?Sync|\bFileUtils|TCPSocket|\bLWP\b|print\s*\|",
    re.IGNORECASE,
)
_DECODERS: Final = frozenset(
    "base64 base32 xxd od openssl gunzip zcat gzip bzcat xzcat rev tr cut sed awk perl "
    "python python3 ruby node uudecode gpg printf hexdump basenc".split()
)
_SPOKEN: Final = {"echo", "printf"}
_NO_VALUES: Final = frozenset[str]()


def _shell(call: Call) -> Verdict:
    script = _after_flag(call, "c")
    if script is not None:
        return _judge_code(call, script)
    files = call.operands({"-o", "+o", "-O", "--rcfile", "--init-file"})
    if files and not call.has("-s"):
        return judge_generated(files[0].inner) if files[0].inner else LOW
    return _judge_input(call)


def _after_flag(call: Call, letter: str) -> Word | None:
    """Return what follows `-c`, also where it is one of several letters."""
    for at, word in enumerate(call.arguments[:-1]):
        flags = word.text
        if re.fullmatch(r"-[a-zA-Z]+", flags) and flags.endswith(letter):
            return call.arguments[at + 1]
        if re.fullmatch(rf"-[a-zA-Z]*{letter}[a-zA-Z]*", flags):
            rest = [w for w in call.arguments[at + 1 :] if w.text[:1] not in {"-", "+"}]
            return next(iter(rest), None)
    return None


def _judge_code(call: Call, script: Word) -> Verdict:
    verdicts = [call.run(script.text, call.command)]
    if script.inner:
        verdicts.append(judge_generated(script.inner))
    elif not script.is_known:
        verdicts.append(medium(_RUNS_UNKNOWN))
    return worst(verdicts)


def _judge_input(call: Call) -> Verdict:
    """Judge a shell that runs what it reads."""
    command = call.command
    if command.stdin is not None:
        return call.run(command.stdin, command)
    texts = [text for source in command.piped_from for text in _spoken(source)]
    verdicts = [call.run(text, command) for text in texts]
    if command.piped_from:
        verdicts.append(judge_generated(command.piped_from))
    return worst(verdicts)


def _spoken(source: Command) -> Iterable[str]:
    if source.name in _SPOKEN:
        words = (w.text for w in source.arguments if w.text not in {"-e", "-n", "%s"})
        yield " ".join(words).replace("\\n", "\n")
    if source.stdin is not None:
        yield source.stdin


def judge_generated(sources: Iterable[Command]) -> Verdict:
    """Judge that the output of commands is run as a script."""
    every = [one for source in sources for one in (source, *source.sources())]
    names = {one.name for one in every}
    if names & FETCHERS:
        return high(_RUNS_DOWNLOAD)
    if names & _DECODERS:
        return high(_RUNS_HIDDEN)
    return LOW if names <= _SPOKEN else medium(_RUNS_UNKNOWN)


def _evaluate(call: Call) -> Verdict:
    script = " ".join(call.texts)
    inner = tuple(command for word in call.arguments for command in word.inner)
    return _judge_code(call, Word(text=script, inner=inner))


def _source(call: Call) -> Verdict:
    files = call.operands()
    if files and files[0].inner:
        return judge_generated(files[0].inner)
    if files and files[0].text in {"/dev/stdin", "/proc/self/fd/0"}:
        return _judge_input(call)
    return LOW


def _trap(call: Call) -> Verdict:
    return call.run(call.texts[0], call.command) if len(call.texts) > 1 else LOW


def _alias(call: Call) -> Verdict:
    scripts = (text.partition("=")[2] for text in call.texts)
    return worst(call.run(script, call.command) for script in scripts if script)


def _python(call: Call) -> Verdict:
    code = _after_flag(call, "c")
    if code is not None:
        return _python_code(call, code.text, code.inner)
    texts = call.texts
    if "-m" in texts[:-1]:
        return _python_module(call, texts[texts.index("-m") + 1])
    if call.operands() and texts[:1] != ["-"]:
        first = call.operands()[0]
        return judge_generated(first.inner) if first.inner else LOW
    return _python_input(call)


def _python_code(call: Call, code: str, inner: tuple[Command, ...]) -> Verdict:
    judged = judge_python(code, lambda script: call.run(script, call.command))
    return worst([judged, judge_generated(inner)]) if inner else judged


def _python_input(call: Call) -> Verdict:
    command = call.command
    if command.stdin is not None:
        return _python_code(call, command.stdin, ())
    texts = [text for source in command.piped_from for text in _spoken(source)]
    verdicts = [_python_code(call, text, ()) for text in texts]
    if command.piped_from:
        verdicts.append(judge_generated(command.piped_from))
    return worst(verdicts)


def _python_module(call: Call, module: str) -> Verdict:
    if module == "pip":
        return PIP(call)
    if module in {"http.server", "SimpleHTTPServer", "smtpd"}:
        return medium("It serves files to other machines.")
    return high("It publishes a package.") if module == "twine" else LOW


def _other_code(call: Call) -> Verdict:
    flags = {"-e", "-E", "-r", "-p", "--eval", "--print", "-pe", "-ne", "-ane", "-le"}
    code = [word.text for word in call.values_of(*flags)]
    if call.command.stdin is not None:
        code.append(call.command.stdin)
    return _judge_text(code, call)


def _awk(call: Call) -> Verdict:
    return _judge_text(call.texts, call, found=LOW)


def _judge_text(code: list[str], call: Call, found: Verdict | None = None) -> Verdict:
    """Judge code in a language that is not parsed here by the words in it."""
    if any(_STARTS_OTHERS.search(text) for text in code):
        return high("Its code may start programs, use the network or delete files.")
    if call.command.piped_from and call.name != "awk" and not call.operands():
        return judge_generated(call.command.piped_from)
    default = medium("It runs code in a language that is not looked into.")
    return (found or default) if code else LOW


RULES: Final[Rules] = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(("eval",), _evaluate),
    **dict.fromkeys(("source", "."), _source),
    "trap": _trap,
    "alias": _alias,
    **dict.fromkeys(("python", "ipython", "pypy"), _python),
    **dict.fromkeys(
        ("node", "nodejs", "deno", "perl", "ruby", "php", "lua", "Rscript", "tclsh"),
        _other_code,
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
}
