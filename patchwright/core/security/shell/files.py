"""The rules for what writes files, or changes who may."""

import re
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.paths import PathKind, absolute, judge_write, kind_of_path
from patchwright.core.security.shell.call import ProgramCall, ProgramRules, for_programs
from patchwright.core.security.verdicts import LOW_RISK, high_risk, medium_risk, worst_verdict

# Four octal digits of which the first has the setuid or setgid bit, or `+s`.
_SETS_ID: Final = re.compile(r"(?:[ugo]*[+=][rwxXt]*s|0?[2467]\d{3}\Z)")
_INTO: Final = ("-t", "--target-directory")
_OWN: Final = {PathKind.REPOSITORY, PathKind.SCRATCH, PathKind.CI}


def _write_all(call: ProgramCall) -> Verdict:
    valued = {"-s", "-r", "-m", "-d", "--mode", "--size", "--reference"}
    return _written(call, [word.text for word in call.operands(valued)])


def _write_last(call: ProgramCall) -> Verdict:
    """Judge a copy: what stands last is written."""
    into = call.value_of(*_INTO)
    operands = [word.text for word in call.operands({*_INTO, "-m", "-o", "-g", "-S"})]
    return _written(call, [into] if into is not None else operands[-1:])


def _move(call: ProgramCall) -> Verdict:
    into = call.value_of(*_INTO)
    operands = [word.text for word in call.operands({*_INTO, "-S"})]
    return _written(call, [*operands, *([] if into is None else [into])])


def _edit_stream(call: ProgramCall) -> Verdict:
    script = " ".join(call.texts)
    if re.search(r"/[gip0-9]*e[gip]*(?:\s|;|$)|^\d*e\s", script):
        return high_risk("It has sed run commands.")
    if not call.has("-i", "--in-place"):
        return LOW_RISK
    scripts = {"-e", "--expression", "-f", "--file"}
    operands = [word.text for word in call.operands(scripts)]
    has_script = call.value_of(*scripts) is not None
    return _written(call, operands if has_script else operands[1:])


def _change_mode(call: ProgramCall) -> Verdict:
    operands = [w.text for w in call.operands({"--reference"})]
    if any(_SETS_ID.match(text) for text in operands[:1]):
        return high_risk("It lets a program run as somebody else.")
    return worst_verdict(_changed(call, target) for target in operands[1:])


def _changed(call: ProgramCall, target: str) -> Verdict:
    place = kind_of_path(absolute(target, call.command.folder))
    if place in _OWN:
        return LOW_RISK
    if call.has("-R", "--recursive"):
        return high_risk("It changes who may touch whole folders of the system.")
    return judge_write(target, call.command.folder)


def _unpack(call: ProgramCall) -> Verdict:
    if any(
        text.startswith(("--checkpoint-action", "--to-command")) for text in call.texts
    ):
        return high_risk("It has tar run commands.")
    into = call.values_of("-C", "--directory", "-d")
    return _written(call, [word.text for word in into])


def _written(call: ProgramCall, paths: list[str]) -> Verdict:
    return worst_verdict(judge_write(path, call.command.folder) for path in paths)


def _link(call: ProgramCall) -> Verdict:
    """Judge a link, through which a later write may leave the workspace."""
    operands = [word.text for word in call.operands(_INTO)]
    verdict = _written(call, operands[-1:] if len(operands) > 1 else [])
    outside = (kind_of_path(absolute(t, call.command.folder)) for t in operands[:-1])
    if any(place in {PathKind.SYSTEM, PathKind.HOME, PathKind.DEVICE} for place in outside):
        return worst_verdict([verdict, medium_risk("It makes a link that leads outside.")])
    return verdict


FILE_RULES: Final[ProgramRules] = {
    **for_programs("tee touch mkdir truncate mkfifo", _write_all),
    **for_programs("cp install", _write_last),
    **for_programs("tar unzip bsdtar", _unpack),
    **for_programs("chmod chown chgrp setfacl chattr", _change_mode),
    "ln": _link,
    "mv": _move,
    "sed": _edit_stream,
}
