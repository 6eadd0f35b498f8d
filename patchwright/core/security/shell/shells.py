"""The rules for what runs a shell script."""

import re
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.shell.call import ProgramCall, ProgramRules, for_programs
from patchwright.core.security.shell.generated import (
    RUNS_UNKNOWN,
    judge_generated,
    texts_of,
)
from patchwright.core.security.shell.script import ShellWord
from patchwright.core.security.verdicts import LOW_RISK, medium_risk, worst_verdict

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


def _shell(call: ProgramCall) -> Verdict:
    script = code_given(call, "c")
    if script is not None:
        return _judge_code(call, script)
    files = call.operands(_VALUED)
    if not files or call.has("-s") or files[0].text in _STANDARD_INPUT:
        return _judge_input(call)
    return judge_generated(files[0].inner) if files[0].inner else LOW_RISK


def _judge_code(call: ProgramCall, script: ShellWord) -> Verdict:
    verdicts = [call.run(script.text, call.command)]
    if script.inner:
        verdicts.append(judge_generated(script.inner))
    elif not script.is_known:
        verdicts.append(medium_risk(RUNS_UNKNOWN))
    return worst_verdict(verdicts)


def _judge_input(call: ProgramCall) -> Verdict:
    command = call.command
    if command.stdin is not None:
        return call.run(command.stdin, command)
    verdicts = [call.run(text, command) for text in texts_of(command.piped_from)]
    if command.piped_from:
        verdicts.append(judge_generated(command.piped_from))
    return worst_verdict(verdicts)


def _evaluate(call: ProgramCall) -> Verdict:
    script = " ".join(call.texts)
    inner = tuple(command for word in call.arguments for command in word.inner)
    return _judge_code(call, ShellWord(text=script, inner=inner))


def _source(call: ProgramCall) -> Verdict:
    files = call.operands()
    if not files:
        return LOW_RISK
    if files[0].inner:
        return judge_generated(files[0].inner)
    return _judge_input(call) if files[0].text in _STANDARD_INPUT else LOW_RISK


def _trap(call: ProgramCall) -> Verdict:
    return call.run(call.texts[0], call.command) if len(call.texts) > 1 else LOW_RISK


def _alias(call: ProgramCall) -> Verdict:
    scripts = (text.partition("=")[2] for text in call.texts)
    return worst_verdict(call.run(script, call.command) for script in scripts if script)


SHELL_RULES: Final[ProgramRules] = {
    **for_programs("sh bash dash zsh ksh ash fish rbash busybox", _shell),
    **for_programs("source .", _source),
    "eval": _evaluate,
    "trap": _trap,
    "alias": _alias,
}
