"""The rules for what runs code in other languages than the shell's."""

import re
from collections.abc import Iterable
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.python.code import judge_python
from patchwright.core.security.shell.call import ProgramCall, ProgramRules, for_programs
from patchwright.core.security.shell.generated import judge_generated, texts_of
from patchwright.core.security.shell.packages import PIP, PUBLISHES
from patchwright.core.security.shell.script import ShellCommand
from patchwright.core.security.shell.shells import code_given
from patchwright.core.security.verdicts import LOW_RISK, high_risk, medium_risk, worst_verdict

_SERVERS: Final = {"http.server", "SimpleHTTPServer", "smtpd"}
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
    texts = call.texts
    if "-m" in texts[:-1]:
        return _python_module(call, texts[texts.index("-m") + 1])
    code = code_given(call, "c")
    if code is not None:
        return worst_verdict([_python_code(call, code.text), _generated(code.inner)])
    files = call.operands()
    if files and files[0].text != "-":
        return _generated(files[0].inner)
    return _python_input(call)


def _python_code(call: ProgramCall, code: str) -> Verdict:
    return judge_python(code, lambda script: call.run(script, call.command))


def _python_input(call: ProgramCall) -> Verdict:
    command = call.command
    if command.stdin is not None:
        return _python_code(call, command.stdin)
    verdicts = [_python_code(call, text) for text in texts_of(command.piped_from)]
    return worst_verdict([*verdicts, _generated(command.piped_from)])


def _python_module(call: ProgramCall, module: str) -> Verdict:
    if module == "pip":
        return PIP(call)
    if module == "twine":
        return high_risk(PUBLISHES)
    return medium_risk("It serves files to other machines.") if module in _SERVERS else LOW_RISK


def _generated(sources: tuple[ShellCommand, ...]) -> Verdict:
    return judge_generated(sources) if sources else LOW_RISK


def _other_code(call: ProgramCall) -> Verdict:
    """Judge code in a language that is not parsed here."""
    code = [word.text for word in call.values_of(*_CODE_OPTIONS)]
    if call.command.stdin is not None:
        code.append(call.command.stdin)
    if not code:
        return LOW_RISK if call.operands() else _generated(call.command.piped_from)
    if _may_start_others(code):
        return _MAY_DO_ANYTHING
    return medium_risk("It runs code in a language that is not looked into.")


def _awk(call: ProgramCall) -> Verdict:
    return _MAY_DO_ANYTHING if _may_start_others(call.texts) else LOW_RISK


def _may_start_others(code: Iterable[str]) -> bool:
    return any(_STARTS_OTHERS.search(text) for text in code)


LANGUAGE_RULES: Final[ProgramRules] = {
    **for_programs("python ipython pypy", _python),
    **for_programs("node nodejs deno perl ruby php lua Rscript tclsh", _other_code),
    **for_programs("awk gawk mawk nawk", _awk),
}
