"""Texts that are hard to read, and all that reads what a stranger may send."""

from collections.abc import Callable, Mapping
from typing import Final

from patchwright.core.commands import parse_command
from patchwright.core.text.branch_names import render_template
from patchwright.core.text.document.reader import read_document
from patchwright.core.text.escape import split_marks
from patchwright.core.text.hidden import strip_hidden, visible_prose
from patchwright.core.text.markdown import read_markdown
from patchwright.core.text.mentions import find_request, neutralise
from patchwright.core.text.redaction import RedactedStream, Redactor
from patchwright.integrations.jira.text.adf_reader import adf_to_markdown
from patchwright.integrations.jira.text.wiki_reader import wiki_to_markdown
from patchwright.integrations.jira.webhooks.triggers import (
    request_in_adf,
    request_in_wiki,
)
from patchwright.integrations.slack.text.message_content import MessageContent
from patchwright.integrations.slack.text.message_reader import MessageReader, people_of
from patchwright.integrations.slack.text.mrkdwn import request_in
from patchwright.resolver.guards.changed_files import matches
from patchwright.resolver.triage import find_oversized_request, has_substance

Read = Callable[[str], object]
Make = Callable[[int], str]

HANDLE: Final = "@patchwright"
_OURS: Final = frozenset({"b"})
_REDACTOR: Final = Redactor(["s3cr&t+/wörd", "ghs_" + "a1" * 18])
_CHUNK: Final = 4_096
_SLACK: Final = MessageReader(names={"U2": "Jo"}, own_id="U1")
# How much of a text there is in each of many elements.
_SHORT: Final = 16
_TEXT: Final = {"type": "text"}
_SECTION: Final = {"type": "rich_text_section"}


def _stream(text: str) -> None:
    stream = RedactedStream(_REDACTOR)
    for at in range(0, len(text), _CHUNK):
        stream.feed(text[at : at + _CHUNK])
    stream.close()


def _adf(text: str) -> dict[str, object]:
    words = {"type": "text", "text": text}
    return {"type": "doc", "content": [{"type": "paragraph", "content": [words]}]}


def _shown(message: Mapping[str, object]) -> None:
    """Read a message of Slack's as the thread and the model are shown it."""
    content = MessageContent.model_validate(message)
    people_of(content)
    _SLACK.read(content)


def _part(text: str) -> str:
    """Return what stands in each place of a message: there are many of them."""
    return text[: len(text) // 4]


def _cut(text: str) -> list[str]:
    return [text[at : at + _SHORT] for at in range(0, len(text), _SHORT)]


def _plain(text: str) -> dict[str, object]:
    return {"type": "text", "text": text, "style": {"bold": True, "code": True}}


def _rich(text: str) -> dict[str, object]:
    """Return every element that people's own editor makes, one in the other."""
    parts = [_plain(one) for one in _cut(text)]
    section = {"type": "rich_text_section", "elements": parts}
    listed = {"type": "rich_text_list", "style": "ordered", "elements": [section] * 2}
    quote = {"type": "rich_text_quote", "elements": parts}
    code = {"type": "rich_text_preformatted", "elements": [{"text": text} | _TEXT]}
    return {"type": "rich_text", "elements": [section, listed, quote, code]}


def _blocks(text: str) -> list[object]:
    """Return every block that has words, of one large text and of many small ones."""
    many = [{"type": "mrkdwn", "text": one} for one in _cut(text)]
    cells = [{"type": "raw_text", "text": one} for one in _cut(text)]
    link = {"type": "link", "url": text, "text": text}
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": text}, "fields": many},
        {"type": "header", "text": {"type": "plain_text", "text": text}},
        {"type": "context", "elements": many},
        {"type": "image", "alt_text": text},
        {"type": "markdown", "text": text},
        {"type": "table", "rows": [cells, *([one] for one in cells)]},
        {"type": "rich_text", "elements": [{"elements": [link]} | _SECTION]},
        _rich(text),
    ]


def _attachments(text: str) -> list[object]:
    """Return what an app added, and a message that somebody forwarded."""
    fields = [{"title": one, "value": one} for one in _cut(text)]
    files = [{"title": text, "url_private": text, "mimetype": "image/png"}]
    words = dict.fromkeys(("pretext", "title", "title_link", "author_name"), text)
    old = {"text": text, "fields": fields, "files": files, **words}
    forwarded = {"is_share": True, "author_name": text, "channel_name": text}
    blocks = [{"message": {"blocks": [_rich(text)]}}]
    return [old, {**forwarded, "text": text, "message_blocks": blocks}]


READERS: Final[Mapping[str, Read]] = {
    "mention, none there": lambda text: find_request(text, HANDLE),
    "mention at the end": lambda text: find_request(f"{text}\n\n{HANDLE} go", HANDLE),
    "mention in front": lambda text: find_request(f"{HANDLE} {text}", HANDLE),
    "mention below": lambda text: find_request(f"{HANDLE} go\n\n{text}", HANDLE),
    "slash": lambda text: find_request(f"/patchwright {text}", "/patchwright"),
    "own words": lambda text: neutralise(f"{text} {HANDLE}", HANDLE),
    "hidden text": strip_hidden,
    "Markdown": read_markdown,
    "prose": visible_prose,
    "document": read_document,
    "Slack": lambda text: request_in(f"{text} <@U1> go", "U1"),
    "Slack blocks": lambda text: _shown({"blocks": _blocks(_part(text))}),
    "Slack attachments": lambda text: _shown(
        {"attachments": _attachments(_part(text))}
    ),
    "wiki": wiki_to_markdown,
    "wiki mention": lambda text: request_in_wiki(f"{HANDLE} {text}", _OURS, HANDLE),
    "ADF": lambda text: adf_to_markdown(_adf(text)),
    "ADF mention": lambda text: request_in_adf(_adf(f"{HANDLE} {text}"), _OURS, HANDLE),
    "redaction": _REDACTOR.redact,
    "redaction of JSON": lambda text: _REDACTOR.redact_json({"a": [text]}),
    "redaction of a stream": _stream,
    "command": lambda text: parse_command(f"stop {text}"),
    "marks": split_marks,
    "template": lambda text: render_template(text, {}),
    "substance": has_substance,
    "scope": lambda text: find_oversized_request(text, "a", text),
    # A repository's file has a few hundred characters for a pattern.
    "globs": lambda text: matches(f"{text[:4_000]}x", f"{text[:300]}y"),
}

# What is repeated up to the size.
_UNITS: Final = (
    *("![", "[", "[[]", "![[", "[a|b", "[a](b [", "[^", "a [", "[`", "[<", "[*", "[~"),
    *("[a]", "[]", "[a](", "[a](b", "[a](<b", '[a](b "c', "[a][b]", "![]()", "![a](b)"),
    *("](", "]", "[a](b)(", "[[a](b)](", "[a]: b\n", "[a]: <b> 'c\n", "> [a]: b\n"),
    *("[^a]: b\n", "[^a]", "- [ ] a\n", "\n\n[", "[~a] ", "\x1b[0m", "[***]", "(", ")"),
    *("%25", "%", "&amp;", "\\\\", "\n0000000: 73 72  x", "0000000 ", "a  ", "7 "),
    *("|-\n", "| a ", "| a | b |\n", "|a\n", "|\n", ":-:|\n", "\\|", "|a|b\n", "||"),
    *("@", "@patchwright ", "`@patchwright` ", "a@b.c ", "<@U1>", "<@U1|"),
    *("`", "` ", "`a``", "``` ", "```\n", "~~~\n", "```a\n", "$", "~", "~~a"),
    *("*", "*_", "*a ", "_a", "**a", "a**b", "a*b_c~", "**`a*", "* * "),
    *("<", "<a ", "<a href='", "<!--", "<!-- -->", "<?", "<![CDATA[", "<!A", "</a>"),
    *(
        "<b>",
        "<div>\n",
        "<div hidden>",
        '<i title="',
        "<style>",
        "<details>\n\n",
        "<p>",
    ),
    *("<http://a", "http://a", "https://a.b/ ", "www.", "://x:y@", "://a:", "a:b@"),
    *("> ", ">", ">\n", "> - ", "- > ", "- ", "- a\n", "* a\nb\n", "1. ", "\t- a\n"),
    *("&", "&amp;", "&#x", "&#0;", "&gt;", "&a", "\\", "\\\\", "a\\\n", "  \n"),
    *("# ", "#", "a\n===\n", "---\n", "    a\n", " ", "\t", "\n", "\r", "a", "é", "A"),
    *("{{", "{{a}}", "{code}", "{code:a}", "{quote}", "{panel:", "{*}", "??", "!a.b"),
    *("h1. a\n", "bq. ", "|| a", "# a\n", "*{", "-a ", "<!-- patchwright:", "<sub>"),
    *("AKIA", "ASIA", "ghp_", "sk-", "sk-a", "eyJ", "eyJaaaaaaaa.", "xoxb-", "bearer "),
    *("-----BEGIN", "-----BEGIN PRIVATE KEY-----\n", "authorization: basic ", "AIza"),
    *("\u200b", "a\u200b", "\u200da", "\U000e0061", "\0", "\ufffd", "%25", "%2525"),
    *("\\u002b", "\\/", "=20", "73 ", "73:", "aGVs\n", "0x73, ", "00000000: 7333\n"),
    *("**/", "*/", "?", "*a", "a/", "**a"),
)


def _repeated(unit: str) -> Make:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


_REPEATED: Final[Mapping[str, Make]] = {unit: _repeated(unit) for unit in _UNITS}
_NESTED: Final[Mapping[str, Make]] = {
    "[[ … ]]": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "[a]: b [[ … ]]": lambda n: "[a]: b\n\n" + "[" * (n // 2) + "]" * (n // 2),
    "[[ … ](u)](u)": lambda n: "[" * (n // 5) + "](u)" * (n // 5),
    "![![ … ](u)](u)": lambda n: "![" * (n // 6) + "](u)" * (n // 6),
    "![![ … [a](b)": lambda n: "![" * (n // 4) + "[a](b)" * (n // 12),
    "[a]: b [[ … ](": lambda n: "[a]: b\n\n" + "[" * (n // 3) + "](" * (n // 3),
    "[a](javascript:[a](": lambda n: (
        ("[a](javascript:b" * 30 + ")" * 30 + " z ") * (n // 520 + 1)
    ),
    "spaces in a label": lambda n: f'[a{" " * n}b](c "t")',
    "spaces in braces": lambda n: "{{" + " " * n,
    "dashes of a comment": lambda n: f"x {'<!---' * (n // 5)}--->",
    "comments in a line": lambda n: f"x {'<!-- ' * (n // 5)}",
    "attributes": lambda n: f"x <a{' href=1' * (n // 7)}>",
    "wide table": lambda n: "|" * (n // 2) + "\n" + "|a\n" * (n // 6),
    "wide rows": lambda n: (
        "|a" * (n // 4) + "|\n" + "|-" * (n // 4) + "|\n" + "|a\n" * (n // 10)
    ),
    "deep quotes": lambda n: "\n".join(">" * (i % 90) + " a" for i in range(n // 50)),
    "deep lists": lambda n: "\n".join("  " * (i % 90) + "- a" for i in range(n // 90)),
    "longer backticks": lambda n: "a".join("`" * i for i in range(int((2 * n) ** 0.5))),
    "dots of an address": lambda n: f"http://a{'.' * n}",
    "names used": lambda n: (
        "".join(f"[a{i}]: b\n" for i in range(n // 24))
        + "\n"
        + "".join(f"[a{i}]" for i in range(n // 16))
    ),
    "footnotes used": lambda n: (
        "".join(f"[^a{i}]: b\n\n" for i in range(n // 24))
        + "".join(f"[^a{i}]" for i in range(n // 16))
    ),
    "footnotes nested": lambda n: "".join(f"[^a{i}]: " for i in range(n // 9)),
    "open titles": lambda n: "[a]: b 'c\n" + "[a]: b (c\n" * (n // 10),
    "emphasis": lambda n: "_*" * (n // 4) + "a" + "*_" * (n // 4),
    "hidden elements": lambda n: f"x {'<i hidden>' * (n // 20)}{'</i>' * (n // 20)}",
    "token in token": lambda n: ("AIza" + "A" * 35 + "AKIA" + "B" * 16) * (n // 59),
    "password": lambda n: f"://{'a:' * (n // 2)}@",
    "key": lambda n: "-----BEGIN PRIVATE KEY-----" + "a\n" * (n // 2),
    "blanks of a header": lambda n: f"bearer{' ' * n}",
    "base64": lambda n: ("QUJD" * 19 + "\n") * (n // 77),
    "xxd": lambda n: "".join(
        f"{i * 16:08x}: {'4141 ' * 8} AAAAAAAAAAAAAAAA\n" for i in range(n // 68)
    ),
    "list of Jira": lambda n: "* a\n" + "b\n" * (n // 2),
    "cell of Jira": lambda n: "|" + "[" * n,
    "backslashes": lambda n: "\\" * n + "<a",
}
TEXTS: Final[Mapping[str, Make]] = {**_REPEATED, **_NESTED}
# What was slow once, or is the same in another place; all of it takes minutes.
WORST: Final = (
    *("![", "[", "[a|b", "[a](b [", "[***]", "\x1b[0m", "|-\n", "@", "[^a]: b\n", "{{"),
    *("AKIA", "a", "-----BEGIN", "://x:y@", "<![CDATA[", "[[ … ](u)](u)", "**/"),
    *("![![ … [a](b)", "[a]: b [[ … ](", "[a](javascript:[a](", "spaces in a label"),
    *("spaces in braces", "dashes of a comment", "attributes", "wide table"),
    *("%25", "&amp;", "\n0000000: 73 72  x", "7 "),
    *("token in token", "<sub>", "<!-- patchwright:", "dots of an address"),
)
# Of readers that do the same in another order, one.
DISTINCT: Final = (
    *(
        "mention at the end",
        "hidden text",
        "document",
        "Slack",
        "Slack blocks",
        "Slack attachments",
        "wiki",
        "ADF",
    ),
    *("redaction", "redaction of a stream", "marks", "template", "substance", "globs"),
)
