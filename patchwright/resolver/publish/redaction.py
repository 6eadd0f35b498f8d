"""Take what was said in private out of texts that everybody may read."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

from patchwright.core.text.hidden import visible_prose
from patchwright.core.text.strings import strip_invisible

_FEWEST_LETTERS: Final = 3
# Of a name of several words each is one too, from that length on.
_FEWEST_OF_PART: Final = 4
# Names that are words as well count only after an @.
_ALSO_WORDS: Final = frozenset(
    {"admin", "art", "bill", "bot", "chase", "dev", "faith", "frank", "grace"}
    | {"grant", "guest", "guy", "hope", "hunter", "jack", "joy", "june", "lane"}
    | {"mark", "max", "may", "miles", "page", "pat", "ray", "rich", "rob", "rose"}
    | {"sky", "sue", "summer", "support", "test", "user", "will"}
)
_EVERYBODY: Final = frozenset({"all", "channel", "everyone", "here", "team"})


def names_pattern(
    names: Collection[str], called: Collection[str], exact: Iterable[str]
) -> re.Pattern[str] | None:
    """Match each name as whole words, whatever its case, and what is `exact` as it is.

    The name of a channel begins with a #, and counts only with it if it is a mere word.
    `called` were addressed with an @: what is not written like a name of somebody
    counts only with it.
    """
    spoken = {one for one in called if one[:1].isupper()}
    sure = {one.lstrip("#@") for one in {*names, *spoken} if _is_only_a_name(one)}
    forms = [
        *_any_of(sure, r"(?<!\w)", r"(?!\w)"),
        *_any_of(
            map(_addressed, {*names, *called} - _EVERYBODY), r"(?<!\w)", r"(?!\w)"
        ),
        *_any_of(exact, r"(?<![^\W_])", r"(?![^\W_])"),
        *_parts(names),
    ]
    return re.compile("|".join(forms), re.IGNORECASE) if forms else None


def _is_only_a_name(name: str) -> bool:
    plain = name.lstrip("@#").casefold()
    if name.startswith("#") and plain.isalpha():
        return False
    return len(plain) >= _FEWEST_LETTERS and plain not in _ALSO_WORDS | _EVERYBODY


def _addressed(name: str) -> str:
    return name if name.startswith(("#", "@")) else f"@{name}"


def _parts(names: Iterable[str]) -> Iterator[str]:
    """Yield what matches a first or last name alone, written as a name."""
    words = (name.split() for name in names)
    parts = {part for several in words if len(several) > 1 for part in several}
    alone = (
        part
        for part in parts
        if len(part) >= _FEWEST_OF_PART
        and part[0].isupper()
        and part.casefold() not in _ALSO_WORDS
    )
    for form in _any_of(alone, r"(?<!\w)", r"(?!\w)"):
        yield f"(?-i:{form})"


def _any_of(names: Iterable[str], before: str, after: str) -> Iterator[str]:
    """Yield one pattern for all of them, the longest first."""
    # Without a letter it would be found in any text, and in what we put there.
    readable = {name for name in names if any(map(str.isalnum, name))}
    inner = [
        r"\s+".join(map(re.escape, name.split()))
        for name in sorted(readable, key=lambda name: (-len(name), name))
    ]
    if inner:
        yield f"{before}(?:{'|'.join(inner)}){after}"


# So many words in a row are a quotation; fewer are how anybody would say it.
QUOTED_WORDS: Final = 8
# A title or the name of a file is short, and so is what it gives away. Of signs that
# are a word each, two or three make one of other scripts.
TITLE_WORDS: Final = 3
_TITLE_SIGNS: Final = 6
_LEAST_LETTERS: Final = 4
_IDENTIFIER: Final = re.compile(r"(?<=\w)[/._:\\]+(?=\w)|\w_\w")
OMISSION: Final = "[…]"
# Where people put no blanks, each character is a word. What was left out already
# is a word that nobody said; an address is one, since its parts are nobody's.
_CHARACTER: Final = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_ADDRESS: Final = r"https?://[^\s<>()\[\]\"'`|]+"
_WORD: Final = re.compile(
    rf"{_ADDRESS}|[{_CHARACTER}]|[^\W_{_CHARACTER}]+|\[…\]", re.IGNORECASE
)
_URL: Final = re.compile(_ADDRESS, re.IGNORECASE)
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[^\W_]+")
_HOST: Final = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#:]*)")
_CALLED: Final = re.compile(r"(?<![\w@/.])@(\w(?:[\w.-]*\w)?)")
_TRAILING_PUNCTUATION: Final = ".,;:!?*_~/"
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PrivateMatter:
    """What must not appear, made once from texts and names of a private place."""

    quotable: frozenset[int]
    titles: frozenset[int]
    emails: frozenset[str]
    urls: frozenset[str]
    hosts: frozenset[str]
    names: re.Pattern[str] | None
    public_url: str


def collect_private_matter(
    texts: Iterable[str],
    names: Iterable[str] = (),
    hosts: Iterable[str] = (),
    public_url: str = "",
) -> PrivateMatter:
    """Note what was said in private.

    `names` are those of people, channels and tickets, `hosts` those of the services
    where it was said. What is below `public_url`, the repository's own address, may be
    linked to by anybody.
    """
    known = [strip_invisible(text)[0] for text in texts]
    theirs = {re.split(r"[:/]", host.casefold())[0] for host in hosts if host}
    emails = {mail for text in known for mail in _EMAIL.findall(text)}
    return PrivateMatter(
        quotable=frozenset(key for text in known for key, _ in _word_rows(text)),
        titles=frozenset(key for text in known for key in _title_rows(text)),
        emails=frozenset(map(str.casefold, emails)),
        urls=frozenset(
            _page_address(url) for text in known for url in _URL.findall(text)
        ),
        hosts=frozenset(theirs),
        names=names_pattern({*names}, {*_mentioned_people(known)}, emails | theirs),
        public_url=_page_address(public_url),
    )


def redact_text(text: str, private: PrivateMatter) -> str:
    """Return the text with `[…]` for each quotation, name, address and link.

    Case, punctuation and invisible characters make no difference to a quotation.
    """
    text = strip_invisible(text)[0]
    # What is left beside a cut may be a new word; each round shortens the text.
    while spans := _merge_spans(_private_spans(text, private)):
        text = _replace_spans(text, spans)
    return text


def find_quotations(text: str, private: PrivateMatter) -> Iterator[Span]:
    """Yield what was said there and nowhere else: rows of words, addresses, links.

    A name is none: many are words of code as well.
    """
    yield from (span for key, span in _word_rows(text) if key in private.quotable)
    for url in _URL.finditer(text):
        if _is_private_url(url[0], private):
            yield url.start(), url.start() + len(url[0].rstrip(_TRAILING_PUNCTUATION))
    for mail in _EMAIL.finditer(text):
        if mail[0].casefold() in private.emails:
            yield mail.span()


def redact_title(text: str, private: PrivateMatter) -> str:
    """Return a title, in which fewer words are a quotation, without what is private."""
    text = redact_text(text, private)
    while spans := _merge_spans(_title_spans(text, private)):
        text = _replace_spans(text, spans)
    return text


def find_in_name(text: str, private: PrivateMatter) -> Iterator[Span]:
    """Yield what of a file's name was said there and nowhere else."""
    yield from find_quotations(text, private)
    yield from _title_spans(text, private)


def _title_spans(text: str, private: PrivateMatter) -> Iterator[Span]:
    for words in (TITLE_WORDS, _TITLE_SIGNS):
        yield from (
            span for key, span in _word_rows(text, words) if key in private.titles
        )


def _title_rows(text: str) -> Iterator[int]:
    """Yield short rows that are said rather than named.

    A path or an identifier is one word to people, and little words alone say nothing.
    """
    for words in (TITLE_WORDS, _TITLE_SIGNS):
        for key, (start, end) in _word_rows(text, words):
            row = text[start:end]
            signs = len(re.findall(rf"[{_CHARACTER}]", row))
            is_prose = not (signs or _IDENTIFIER.search(row))
            says = re.search(rf"[^\W_]{{{_LEAST_LETTERS},}}", row)
            if (is_prose and says) or signs == _TITLE_SIGNS:
                yield key


def _private_spans(text: str, private: PrivateMatter) -> Iterator[Span]:
    yield from find_quotations(text, private)
    if private.names is not None:
        yield from (found.span() for found in private.names.finditer(text))


def _word_rows(text: str, count: int = QUOTED_WORDS) -> Iterator[tuple[int, Span]]:
    """Yield each row of words that is long enough for a quotation, and its place."""
    words = list(_WORD.finditer(text))
    plain = [normalize("NFKC", word[0]).casefold() for word in words]
    for first in range(len(words) - count + 1):
        last = first + count - 1
        span = words[first].start(), words[last].end()
        yield hash(tuple(plain[first : last + 1])), span


def _is_private_url(url: str, private: PrivateMatter) -> bool:
    page = _page_address(url)
    base = private.public_url
    if base and (page == base or page.startswith(f"{base}/")):
        return False
    host = _HOST.match(page)
    name = host[1] if host else ""
    is_theirs = any(name == one or name.endswith(f".{one}") for one in private.hosts)
    return is_theirs or page in private.urls


def _page_address(url: str) -> str:
    """Return an address without what only leads to a part of the page."""
    return re.split(r"[?#]", url.casefold())[0].rstrip(_TRAILING_PUNCTUATION)


def _mentioned_people(texts: Iterable[str]) -> Iterator[str]:
    """Yield whom the texts address, outside code: there, an @ is something else."""
    for text in texts:
        if "@" in text:
            yield from _CALLED.findall(visible_prose(text))


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _replace_spans(text: str, spans: Iterable[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += [text[done:start], OMISSION]
        done = end
    return "".join([*parts, text[done:]])
