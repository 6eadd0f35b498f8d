"""Write the inlines of a document as ADF."""

from collections.abc import Iterator
from typing import Final, assert_never

from patchwright.core.text.document.types import Mention, Code, Inlines, LineBreak, PlainText
from patchwright.integrations.jira.text.runs import StyledRun, Style, styled_runs

AdfNode = dict[str, object]

_STYLES: Final[dict[Style, AdfNode]] = {
    Style.STRONG: {"type": "strong"},
    Style.EMPHASIS: {"type": "em"},
    Style.STRIKE: {"type": "strike"},
    Style.SMALL: {"type": "subsup", "attrs": {"type": "sub"}},
}


def write_inlines(inlines: Inlines, *styles: Style) -> list[AdfNode]:
    return [node for run in styled_runs(inlines, *styles) for node in _nodes(run)]


def _nodes(run: StyledRun) -> Iterator[AdfNode]:
    match run.leaf:
        case PlainText(text):
            yield _text(text, [*_link(run), *(_STYLES[style] for style in run.styles)])
        case Code(text):
            # Code has no style beside it.
            # https://developer.atlassian.com/cloud/jira/platform/apis/document/marks/code/
            yield _text(text, [*_link(run), {"type": "code"}])
        case Mention(person_id, name):
            yield {"type": "mention", "attrs": {"id": person_id, "text": f"@{name}"}}
        case LineBreak():
            yield {"type": "hardBreak"}
        case _:
            assert_never(run.leaf)


def _text(text: str, marks: list[AdfNode]) -> AdfNode:
    node: AdfNode = {"type": "text", "text": text}
    return node | {"marks": marks} if marks else node


def _link(run: StyledRun) -> list[AdfNode]:
    if not run.address:
        return []
    return [{"type": "link", "attrs": {"href": run.address}}]
