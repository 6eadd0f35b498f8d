"""The security analyzers, and the choice of one by its name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

import structlog
from pydantic import JsonValue

from patchwright.core.events import types as ev
from patchwright.core.security.analyzer import (
    LOW_RISK,
    UNKNOWN_RISK,
    Analyzer,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
from patchwright.core.security.hosts import METADATA, HostKind, host_of, kind_of_host
from patchwright.core.security.paths import judge_read, judge_write
from patchwright.core.security.python_code import judge_python
from patchwright.core.security.shell.judge import judge_script
from patchwright.core.system.entry_points import ANALYZERS, find_maker


class ClaimAnalyzer:
    """It can only raise alarm: the panel takes the highest word."""

    name = "model"

    def judge(self, action: ev.AgentAction, claimed: ev.Risk) -> Verdict:  # noqa: ARG002 - the protocol's
        if claimed is ev.Risk.HIGH:
            return Verdict(risk=claimed, why="The model itself calls it risky.")
        return Verdict(risk=claimed)


log: Final = structlog.get_logger(__name__)


class AnalyzerPanel:
    """The highest risk of all; UNKNOWN only where no analyzer knew."""

    name = "panel"

    def __init__(self, analyzers: Sequence[Analyzer]) -> None:
        self._analyzers = tuple(analyzers)

    def judge(self, action: ev.AgentAction, claimed: ev.Risk) -> Verdict:
        verdicts = [_judge_safely(one, action, claimed) for one in self._analyzers]
        return worst_verdict(verdicts, UNKNOWN_RISK)


def _judge_safely(
    analyzer: Analyzer, action: ev.AgentAction, claimed: ev.Risk
) -> Verdict:
    try:
        return analyzer.judge(action, claimed)
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything; not knowing is HIGH
        kind = type(error).__name__
        log.warning("analyzer_failed", analyzer=analyzer.name, error=kind)
        return high_risk(f"The analyzer {analyzer.name} failed ({kind}).")


_METADATA: Final = high_risk(METADATA)

IsReadOnly = Callable[[str, str], bool]


def trust_no_tool(server: str, tool: str) -> bool:  # noqa: ARG001 - what a caller may know
    """Take every tool for one that changes something."""
    return False


class RuleAnalyzer:
    """What the model claims does not count here.

    `is_read_only` says of a server and a tool whether it only looks.
    """

    name = "rules"

    def __init__(self, is_read_only: IsReadOnly = trust_no_tool) -> None:
        self._is_read_only = is_read_only

    def judge(self, action: ev.AgentAction, claimed: ev.Risk) -> Verdict:  # noqa: ARG002 - the protocol's
        match action:
            case ev.RunCommand():
                return judge_script(action.command, action.stdin)
            case ev.ControlCommand(act=ev.ControlAct.WRITE):
                return worst_verdict(
                    [judge_script(action.text), medium_risk("It types into a program.")]
                )
            case ev.RunIpython():
                return judge_python(action.code, judge_script)
            case ev.ReadFile() | ev.SearchFiles():
                return judge_read(action.path)
            case ev.WriteFile() | ev.EditFile():
                return judge_write(action.path)
            case ev.Browse():
                return _judge_page(action.url)
            case ev.CallMcpTool():
                return self._judge_tool(action)
            case (
                ev.ControlCommand()
                | ev.Delegate()
                | ev.Recall()
                | ev.Condense()
                | ev.Think()
            ):
                return LOW_RISK
            case ev.WriteTodos() | ev.Finish() | ev.Reject() | ev.AskQuestion():
                return LOW_RISK
            case _:
                return medium_risk("It is an unknown action.")

    def _judge_tool(self, action: ev.CallMcpTool) -> Verdict:
        given = worst_verdict(map(_judge_argument, _texts_in(action.arguments)))
        if self._is_read_only(action.server, action.tool):
            return given
        return worst_verdict(
            [given, medium_risk("It calls a tool that may change something.")]
        )


def _judge_page(url: str) -> Verdict:
    try:
        parts = urlsplit(url)
    except ValueError:
        return medium_risk("It opens an address that cannot be read.")
    if parts.scheme == "file":
        return worst_verdict([judge_read(unquote(parts.path))])
    kind = kind_of_host(host_of(url))
    if kind is HostKind.METADATA:
        return _METADATA
    if kind is HostKind.OWN and parts.scheme in {"http", "https", ""}:
        return LOW_RISK
    return medium_risk("It opens a page of another machine.")


def _judge_argument(text: str) -> Verdict:
    if "://" in text and kind_of_host(host_of(text)) is HostKind.METADATA:
        return _METADATA
    return judge_read(text) if text.startswith(("/", "~", ".")) else LOW_RISK


def _texts_in(tree: JsonValue) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _texts_in(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _texts_in(value)


_BUILT_IN: Final[Mapping[str, Callable[[], Analyzer]]] = {
    "rules": RuleAnalyzer,
    "model": ClaimAnalyzer,
}


def choose_analyzer(names: Sequence[str]) -> Analyzer:
    """Return the panel of these analyzers.

    A plug-in's entry point is called without arguments. Raises `SettingsError` for a
    name that nobody offers.
    """
    found = (
        find_maker(ANALYZERS, name, _BUILT_IN, setting="agent.analyzers")
        for name in names
    )
    return AnalyzerPanel([make() for make in found])
