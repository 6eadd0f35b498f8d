"""Who is called by a text, and what is asked of us, in both kinds of markup."""

from typing import Any

import pytest

from patchwright.integrations.jira.text.adf_reader import adf_blocks
from patchwright.integrations.jira.text.wiki_reader import wiki_blocks
from patchwright.integrations.jira.webhooks.triggers import (
    request_in_adf,
    request_in_wiki,
)
from tests.unit.jira.called import called_by

OWN = frozenset({"5b10:own", "patchwright"})
HANDLE = "@patchwright"


def doc(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "doc", "version": 1, "content": list(nodes)}


def node(kind: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "content": list(content)}


def text(words: str, *marks: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "marks": [{"type": m} for m in marks]}


def mention(person_id: str, name: str = "@Somebody") -> dict[str, Any]:
    return {"type": "mention", "attrs": {"id": person_id, "text": name}}


OURS = mention("5b10:own", "@Fixing Robot")


@pytest.mark.parametrize(
    ("wiki", "names"),
    [
        ("[~ann] and [~accountid:5b10:a-b]", {"ann", "5b10:a-b"}),
        ("* [~ann]\n|[~bo]|\n{panel}[~cy]{panel}", {"ann", "bo", "cy"}),
        ("*[~ann]*", {"ann"}),
        ("{code}[~ann]{code}", set()),
        ("{noformat}\n[~ann]\n{noformat}", set()),
        ("{{[~ann]}}", set()),
        ("{quote}[~ann]{quote} bq. no", set()),
        ("bq. [~ann] said", set()),
        ("\\[~ann] @ann", set()),
        ("{quote}[~ann]", {"ann"}),
    ],
)
def test_wiki_markup_calls_outside_of_code_and_quotes(
    wiki: str, names: set[str]
) -> None:
    assert called_by(wiki_blocks(wiki)) == names


def test_a_document_calls_outside_of_code_and_quotes() -> None:
    quoted = node("blockquote", node("paragraph", mention("q")))
    listed = node("bulletList", node("listItem", node("paragraph", mention("l"))))
    table = node("table", node("tableRow", node("tableCell", mention("t"))))
    panel = node("panel", node("paragraph", mention("p")))
    document = doc(quoted, listed, table, panel, node("paragraph", text("@x")))
    assert called_by(adf_blocks(document)) == {"l", "t", "p"}


@pytest.mark.parametrize(
    ("wiki", "request_"),
    [
        ("[~patchwright] fix this", "fix this"),
        ("[~Patchwright]: fix *this*", "fix **this**"),
        ("[~accountid:5b10:own] retry", "retry"),
        ("@patchwright budget +5", "budget +5"),
        ("please have a look[~patchwright]!", "please have a look!"),
        ("hi [~patchwright]fix {{a_b(*)}}", "fix `a_b(*)`"),
        ("[~patchwright]", ""),
        ("[~ann] fix this", None),
        ("{quote}[~patchwright] fix{quote}\nI agree", None),
        ("{code}\n@patchwright fix\n{code}", None),
        ("{{@patchwright}} is its name", None),
        ("[@patchwright|https://example.org]", None),
        ("mail me: ann@patchwright.org", None),
        ("", None),
    ],
)
def test_what_wiki_markup_asks(wiki: str, request_: str | None) -> None:
    assert request_in_wiki(wiki, OWN, HANDLE) == request_


def test_what_a_document_asks() -> None:
    asked = doc(node("paragraph", OURS, text("fix "), text("a_b", "code")))
    assert request_in_adf(asked, OWN, HANDLE) == "fix `a_b`"
    assert request_in_adf(asked, frozenset(), HANDLE) is None
    typed = doc(node("paragraph", text("@patchwright stop")))
    assert request_in_adf(typed, OWN, HANDLE) == "stop"
    assert request_in_adf(None, OWN, HANDLE) is None


def test_a_quote_and_code_of_a_document_ask_nothing() -> None:
    paragraph = node("paragraph", OURS, text(" fix"))
    code = node("codeBlock", text("@patchwright fix"))
    inline = node("paragraph", text("@patchwright", "code"))
    assert request_in_adf(doc(node("blockquote", paragraph)), OWN, HANDLE) is None
    assert request_in_adf(doc(code, inline), OWN, HANDLE) is None


def test_somebody_named_like_us_is_not_us() -> None:
    other = mention("5b10:other", "@patchwright Jones")
    assert request_in_adf(doc(node("paragraph", other)), OWN, HANDLE) is None
    assert request_in_wiki("[~patchwright] hi", frozenset(), HANDLE) is None
