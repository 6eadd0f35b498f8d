"""Escape text of others: no mention in it acts, and none leaves its code block."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import count
from typing import Final
from urllib.parse import quote

from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.core.text.strings import strip_invisible, well_formed
from patchwright.core.types.base import Value

_BEGIN: Final = "<!-- patchwright:"
# None of ours has another comment in it; so no text is searched twice.
_MARK: Final = re.compile(rf"{_BEGIN}[^\n<]*? -->")
_STATE: Final = re.compile(r"patchwright:state=([a-z-]+) run=(\S+) -->")
# A link to this calls a person on a service that has ids for people. It is ours alone:
# see `without_mentions`.
MENTION_LINK: Final = "patchwright-call:"


class Marked(Value):
    """A text without its marks, and these as they were written."""

    text: str
    marks: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """Return the state of the run that the text shows, or an empty string."""
        found = next(filter(None, map(_STATE.search, self.marks)), None)
        return found[1] if found else ""

    @property
    def run_id(self) -> str:
        found = next(filter(None, map(_STATE.search, self.marks)), None)
        return found[2] if found else ""

    @property
    def name(self) -> str:
        """Return what is in every form of this post and in no other one of ours."""
        if self.run_id:
            return f"run={self.run_id} -->"
        return self.marks[-1] if self.marks else ""


def split_marks(text: str) -> Marked:
    """Take our marks out of a text that we wrote."""
    marks = tuple(_MARK.findall(text))
    return Marked(text=_MARK.sub("", text).strip() if marks else text, marks=marks)


def plain_name(name: str) -> str:
    """Return what somebody calls themselves, without what would be markup in it."""
    return re.sub(r"[\\\[\]`*_<>]", "", name)


def mention_link(name: str, person_id: str) -> str:
    """Call somebody: a link for a channel to make a mention of."""
    return (
        f"[@{plain_name(name) or 'you'}]({MENTION_LINK}{quote(person_id, safe=':@')})"
    )


def without_mentions(text: str) -> str:
    """Return somebody else's text so that it calls nobody."""
    # A blank ends the name of the scheme. One of no width is taken out again where
    # texts are made visible.
    return re.sub(
        re.escape(MENTION_LINK),
        f"{MENTION_LINK[:-1]} :",
        text,
        flags=re.IGNORECASE,
    )


def without_mentions_and_marks(text: str) -> str:
    """Return somebody else's text so that it calls nobody and has no mark of ours."""
    return without_mentions(text).replace(_BEGIN, _BEGIN.replace("<!", "<\u200b!"))


class TextPlace(StrEnum):
    """The place of a text.

    `CODE` is shown as code, which mentions nobody and has no links, `WORDS` is read as
    Markdown. `PLAIN` is sent as it is, such as a title or the message of a commit.
    """

    CODE = "code"
    WORDS = "words"
    PLAIN = "plain"


_EVERYWHERE: Final = frozenset(TextPlace)
_NOT_IN_CODE: Final = frozenset({TextPlace.WORDS, TextPlace.PLAIN})
_PLAIN_ALONE: Final = frozenset({TextPlace.PLAIN})


@dataclass(frozen=True, slots=True)
class ActiveTextRule:
    """A kind of active text, and how it is made harmless while people can read it."""

    name: str
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]
    places: frozenset[TextPlace] = _EVERYWHERE


def make_inert(text: str, place: TextPlace = TextPlace.WORDS) -> str:
    """Return the text so that no service acts on it; nothing in it is invisible.

    What one rule leaves can be the matter of another, so they go on until all is still.
    """
    if place is not TextPlace.PLAIN and _STILL.fullmatch(text):
        return text
    text = without_mentions_and_marks(visible_lines(text))
    for _ in range(_MAX_ROUNDS):
        before = text
        for rule in RULES:
            if place in rule.places:
                text = rule.pattern.sub(rule.replacement, text)
        if text == before:
            break
    return text


def make_inert_line(text: str) -> str:
    """Return a text as a title: one line, and no service acts on it."""
    return make_inert(" ".join(text.split()), TextPlace.PLAIN)


def without_mentions_except(text: str, but: str = "") -> str:
    """Take the calls out of a text, those in its code too, but that of one login.

    Who copies a text may not know code in it: a forge makes the message of a commit of
    what a pull request says.
    """
    kept = f"@{but}".casefold()

    def apart(found: re.Match[str]) -> str:
        return found[0] if found[0].casefold() == kept else f"@ {found[0][1:]}"

    return _CALL.sub(apart, text)


def find_active(text: str, place: TextPlace = TextPlace.WORDS) -> tuple[str, ...]:
    """Name what a service would act on in a text, as it is sent."""
    rules = (rule for rule in RULES if place in rule.places)
    return tuple(rule.name for rule in rules if rule.pattern.search(text))


_MAX_ROUNDS: Final = 8
# What no rule but those for plain texts can find anything in.
_STILL: Final = re.compile(r"[\w ,;()'\"?%&+=<>\n]*", re.ASCII)
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def visible_lines(text: str) -> str:
    """Return a text whose lines end with a line feed, without what nobody sees."""
    text = _LINE_ENDS.sub("\n", well_formed(text).replace("\0", "\ufffd"))
    return strip_invisible(text)[0]


_NO_ADDRESS: Final = r"(?<![\w/.+-])"
_CALL: Final = re.compile(rf"{_NO_ADDRESS}@[a-z0-9][\w-]*", re.IGNORECASE | re.ASCII)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _lines(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


# What may be skipped, by the words of the services that look for it.
# https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs
# https://docs.gitlab.com/ci/pipelines/#skip-a-pipeline
# https://learn.microsoft.com/en-us/azure/devops/pipelines/repos/azure-repos-git#skipping-ci-for-individual-pushes
_SKIPPED: Final = (
    r"(?:ci|cd|actions?|checks?|tests?|builds?|deploy(?:ment)?s?|release|pipelines?"
    r"|workflows?|preview|pages|docs?|lint|review|pr|e2e|travis|circle(?:ci)?|appveyor"
    r"|netlify|vercel|azure ?pipelines|azp(?:ipelines)?|buildkite|semaphore|drone"
    r"|jenkins|bitrise|codeship|wercker|render|heroku|cirrus|gha|github|gitlab|cf"
    r"|codecov|coverage|sonar\w{0,10}|percy|chromatic|changelog|pre-commit(?:\.ci)?"
    r"|cloud ?build|code ?build|amplify|dependabot|renovate|railway|fly|teamcity|bamboo"
    r"|woodpecker|concourse|harness|tekton|shippable|scrutinizer|snyk|bot)"
)
_SKIP_WORDS: Final = (
    rf"\[(\s*(?:(?:skip|no)[\s_:-]{{1,3}}{_SKIPPED}(?:[\s_-]{_SKIPPED})?:?"
    rf"|(?:{_SKIPPED}[\s_:.-]{{1,3}}){{1,3}}skip:?"
    r"|pre-commit\.ci[\s-]\w{1,20})\s*)\]"
)
_CLOSING: Final = (
    r"\b(?i:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)"
    r"|implement(?:s|ed|ing)?|complet(?:e[sd]?|ing)|finish(?:e[sd]|ing)?"
    r"|deliver(?:s|ed|ing)?|re-?open(?:s|ed|ing)?)\b"
)
# What may stand between such a word and the number; Markdown is no hindrance.
_BETWEEN: Final = r"[\s:*_~`\"'(\[\\>,]{0,12}(?:(?i:issues?)[\s:]{1,3})?"
_REPO: Final = r"[\w.-]{1,100}/[\w.-]{1,100}(?=#)"
_THREAD: Final = (
    r"https?://[^\s<>]{1,300}?/(?:issues|pulls?|discussions|merge_requests)/"
)
# Azure Boards has a word before its numbers.
_NUMBERED: Final = rf"(?i:(?:{_REPO}|\bAB)?#|\bGH-|{_THREAD})"
# Words with a number that are no ticket of anybody.
_TICKET: Final = (
    r"\b(?!(?:UTF|UCS|SHA|MD|AES|RSA|ISO|RFC|PEP|CVE|CWE|HTTP|TLS|BASE|GPT|ANSI|IEEE"
    r"|EN|ARM|AMD|INT|FP|X|Y)-)[A-Z][A-Z0-9_]{1,19}-"
)
# Some trackers know their tickets in small letters, too, as they stand in branches.
_SMALL_TICKET: Final = (
    r"\b(?!(?:utf|ucs|sha|md|aes|rsa|iso|rfc|pep|cve|cwe|http|tls|base|gpt|ansi|ieee|en"
    r"|arm|amd|int|fp|py|python|node|java|php|vue|top|big|non|pre|sub|step|part|phase|line|page|level|type|web)-)"
    r"[a-z][a-z0-9]{1,5}-"
)
# Bots that take commands from everybody who writes their name, in code as well.
_BOTS: Final = (
    r"(?:dependabot|renovate(?:bot)?|bors|homu|rustbot|rfcbot|mergify(?:io)?|kodiakhq"
    r"|copilot|claude|codex|gemini(?:-cli)?|cursor(?:agent)?|coderabbit(?:ai)?"
    r"|greptile(?:ai)?|devin(?:-ai-integration)?|openhands(?:-agent)?|sweep(?:-ai)?"
    r"|jules|qodo(?:-merge)?|ellipsis(?:-dev)?|k8s-(?:ci-ro)?bot|pytorch(?:merge)?bot"
    r"|meeseeksdev|azure-pipelines|github-actions|netlify|vercel|snyk|codecov|stale"
    r"|all-?contributors|lgtm|patchback|backport|ofborg)"
)
_STATES: Final = r"(?:circle|square|check|mark|heart|tick|green|yellow)"
# A circle, a square, a tick, a cross or a heart in a colour says how a proof went.
_SIGNS: Final = (
    "[\u26aa\u26ab\u2705\u2714\u2611\u274c\u274e\u2b1b\u2b1c\u2764\U0001f49a-\U0001f49c"
    "\U0001f499\U0001f534\U0001f535\U0001f7e0-\U0001f7eb\U0001f90d\U0001f90e\U0001f5a4"
    "\U0001f9e1]\ufe0f?"
)
_TRAILER: Final = (
    r"^([ \t]*(?:(?:[a-z]{2,20}-){1,4}[a-z]{2,20}|cc|bug|link|reverts|closes|fixes))"
    r"[ \t]*:(?=[ \t]|$)"
)
_SPOKEN: Final = (
    r"^([ \t]*)(bors|homu|jenkins|r[+-]|retest this|test this|ok to test|lgtm)"
    r"(?=[\s,:=+.!]|$)"
)
_SMART: Final = (
    r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{1,19}-\d{1,9}\b[^\n]{0,1000}?#(?=[A-Za-z])[^\n]*"
)


def _set_apart(found: re.Match[str]) -> str:
    return re.sub(r"#(?=[A-Za-z])", "# ", found[0])


RULES: Final = (
    ActiveTextRule("skip word", _compiled(_SKIP_WORDS), r"(\1)"),
    ActiveTextRule("skip word", _compiled(r"(?<=\*)(\s?no)\\?_(?=ci\s?\\?\*)"), r"\1-"),
    ActiveTextRule("skip word", _compiled(r"\b(skip-checks)\s*:\s*(?=true)"), r"\1 "),
    ActiveTextRule(
        "closing word",
        re.compile(
            rf"({_CLOSING}{_BETWEEN}(?:{_NUMBERED}|{_TICKET}|{_SMALL_TICKET}))(?=\d)"
        ),
        r"\1 ",
    ),
    ActiveTextRule("smart commit", re.compile(_SMART), _set_apart),
    ActiveTextRule("command of a bot", _compiled(rf"@(?={_BOTS}(?![a-z0-9]))"), "@ "),
    ActiveTextRule("sign of a proof", _compiled(_SIGNS), "·"),
    ActiveTextRule(
        "sign of a proof",
        _compiled(rf":(?=[\w+-]{{0,40}}{_STATES})([\w+-]{{1,60}}):"),
        r"\1",
    ),
    ActiveTextRule(
        "mention", _compiled(rf"{_NO_ADDRESS}@(?=[a-z0-9])"), "@ ", _NOT_IN_CODE
    ),
    ActiveTextRule("address", _compiled(r"(h)tt(ps?://)"), r"\1xx\2", _NOT_IN_CODE),
    ActiveTextRule("address", _compiled(r"ftp(?=://)"), "fxp", _NOT_IN_CODE),
    ActiveTextRule(
        "address", _compiled(r"(?<![a-z0-9])www\.(?=\w)"), "www[.]", _NOT_IN_CODE
    ),
    ActiveTextRule("alert", _compiled(r"\[!(?=[a-z]{1,20}\])"), "[", _NOT_IN_CODE),
    ActiveTextRule(
        "command", _lines(r"^([ \t]*)([/!][a-z][\w-]*)"), r'\1"\2"', _PLAIN_ALONE
    ),
    ActiveTextRule("command", _lines(_SPOKEN), r'\1"\2"', _PLAIN_ALONE),
    ActiveTextRule("trailer", _lines(_TRAILER), r"\1 -", _PLAIN_ALONE),
)


_MARK_DIGITS = 12
_LONGEST_NAME = 100
_NOT_IN_A_NAME = re.compile(r"[^\w\s@./#:()\[\]+-]")
_FENCE = re.compile(r"`{3,}|~{3,}")


def as_data(label: str, author: str, text: str, role: str = "") -> str:
    """Fence a text for a prompt, between marks that it does not contain.

    The mark depends on the text alone, so that a prompt's beginning stays the same
    from one call to the next. `role` is what the author is in this place, if known.
    """
    mark = f"data-{_find_mark(text)}"
    what = f'what="{_as_name(label)}" author="{_as_name(author)}"'
    known = f' role="{_as_name(role)}"' if role else ""
    return f"<{mark} {what}{known}>\n{text}\n</{mark}>"


def close_code_block(text: str) -> str:
    """End the code block that a text leaves open, so that it holds nothing after it."""
    source = read_markdown(f"{text}\n\nprose")
    opened = [
        piece
        for piece in source.pieces
        if piece.kind is PieceKind.FENCE and piece.end >= len(source.text)
    ]
    fence = _FENCE.search(source.text, opened[0].start) if opened else None
    return f"{text}\n{fence[0]}" if fence else text


def inline_code(text: str) -> str:
    """Return a Markdown code span; line breaks in it become blanks."""
    line = " ".join(text.splitlines())
    if not line.strip():
        return f"` {line} `"
    ticks = _backticks(line)
    # A blank on both sides is taken off again when the span is read.
    # https://spec.commonmark.org/0.31.2/#code-spans
    touches = line[0] in "` " or line[-1] in "` "
    return f"{ticks} {line} {ticks}" if touches else f"{ticks}{line}{ticks}"


def code_block(text: str) -> str:
    """Return a Markdown code block that the text cannot end, all of it visible."""
    shown = "".join(map(_visible, text))
    ticks = _backticks(shown).rjust(3, "`")
    return f"{ticks}\n{shown}\n{ticks}"


def table_code(text: str) -> str:
    """Return a code span for a table's cell, where a bar ends the cell even in code."""
    return inline_code(text).replace("|", "\\|")


def _visible(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return character.encode("unicode_escape").decode()


def _find_mark(text: str) -> str:
    marks = (
        sha256(f"{salt}:{text}".encode("utf-8", "surrogatepass")).hexdigest()
        for salt in count()
    )
    lowered = text.lower()
    return next(m for mark in marks if (m := mark[:_MARK_DIGITS]) not in lowered)


def _as_name(text: str) -> str:
    words = _NOT_IN_A_NAME.sub("", text).split()
    return " ".join(words)[:_LONGEST_NAME]


def _backticks(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * (longest + 1)
