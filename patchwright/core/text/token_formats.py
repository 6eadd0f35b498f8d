"""Know a credential by its looks."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

# What code, logs and English are made of, the commonest first; the rest is rarer.
_COMMON: Final = " etaonisrlcdpmuhfgyb_.\"/-:,012vwk=()'3456789xqjz"
_RANK: Final = {character: rank for rank, character in enumerate(_COMMON)}


class StringMatcher:
    """Strings to look for, under the rarest character of each.

    A search for one character is a tenth of one for a string, and most texts lack most
    of the rare ones.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for string in sorted(set(strings)):
            groups[_rarest(string)].append(string)
        self._groups = tuple(
            (character, tuple(group)) for character, group in groups.items()
        )

    def any_in(self, text: str) -> bool:
        # Written out: this runs for every event, and a generator doubles its time.
        for character, group in self._groups:
            if character in text:
                for string in group:
                    if string in text:
                        return True
        return False


def _rarest(string: str) -> str:
    return max(string, key=lambda character: _RANK.get(character, len(_RANK)))


# What nearly every text lacks is looked for first, by plain search.
_HINTS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk-", "xox", "xapp-"),
    *("AKIA", "ASIA", "AIza", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "gloas-"),
    *("npm_", "pypi-", "hf_", "lin_", "ATATT", "eyJ", "PRIVATE"),
)

# Formats as their makers describe them, among others
# https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
# https://docs.gitlab.com/security/tokens/#token-prefixes
# https://docs.slack.dev/authentication/tokens
# Repetitions before something that may be missing are bounded, so that no text is slow.
_KEY_BLOCK = (
    r"-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\:,]|-(?!----))*"
    r"(?:-----END[A-Z0-9 ]{0,40} PRIVATE KEY-----)?"
)
_WHOLE = (
    r"gh[pousr]_[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]{8,})*",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{20,}",
    r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}",
    r"xapp-\d-[A-Za-z0-9-]{10,}",
    # It has 20 characters. What touches it goes with it: as what is left would be known
    # as the next one, a row of them would be looked at once for each.
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16,}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"gl(?:pat|dt|rt|cbt|ptt|oas)-[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+)*",
    r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{40,}",
    r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}",
    r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}",
    r"ATATT[A-Za-z0-9_=-]{20,}",
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    _KEY_BLOCK,
)
_TOKEN = re.compile(f"()(?:{'|'.join(_WHOLE)})")

# The first group is not redacted: the scheme, the user's name.
_VALUE = r"[\w.~+/=-]{6,}"
_QUOTES = r"[\"'\\ \t]{0,8}"
_HEADER_HINTS = ("earer", "EARER", "uthorization", "UTHORIZATION")
_MAY_BE_TOKEN = StringMatcher(_HINTS)
_MAY_BE_HEADER = StringMatcher(_HEADER_HINTS)
_HEADERS = (
    re.compile(
        r"(\bbearer[ \t]+)(?=[A-Z._~+/=-]{0,80}\d)[A-Z0-9._~+/=-]{16,}", re.IGNORECASE
    ),
    re.compile(
        rf"(\bauthorization{_QUOTES}[:=]{_QUOTES}(?:basic|token)[ \t]+){_VALUE}",
        re.IGNORECASE,
    ),
)
_URL_PASSWORDS = (
    re.compile(r"(://[^\s/@:\"'<>\\]{0,256}:)(?!\[\*\*\*\]@)[^\s/@\"'<>\\]+(?=@)"),
    re.compile(r"(://)[^\s/@:\"'<>\\\[]{20,}(?=@)"),
)
# What a text may end in that goes on with more of it.
_OPEN_HEADER = re.compile(
    r"(?:bearer|authorization)[\"'\\ \t:=]{0,24}(?:(?:basic|token)[ \t]*)?\S*\Z",
    re.IGNORECASE,
)
_KEY_BEGIN = "-----BEGIN"
_OPEN_KEY = re.compile(
    rf"{_KEY_BEGIN}(?:(?!-----END[A-Z0-9 ]{{0,40}}-----)[A-Za-z0-9+/=\s\\:,-])*\Z"
)
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/=\s\\:,-]*")
_WORD = re.compile(r"\S*")


def may_hold_token(text: str) -> bool:
    """Tell, fast and erring on the safe side, whether a format could be in the text."""
    return bool(_likely_patterns(text))


def redact_tokens(text: str, blot: str) -> str:
    for pattern in _likely_patterns(text):
        text = pattern.sub(lambda match: match[1] + blot, text)
    return text


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield from where to where each token goes, with what makes it known as one."""
    for pattern in _likely_patterns(text):
        yield from (match.span() for match in pattern.finditer(text))


def find_tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield from where to where the tokens go that their own form gives away.

    Passwords in addresses and headers are no part of it: code has templates for them.
    """
    if _MAY_BE_TOKEN.any_in(text):
        yield from (match.span() for match in _TOKEN.finditer(text))


def begin_unfinished_token(text: str) -> int:
    """Return where a token may begin that the text ends in the middle of.

    Every word may be one until a blank ends it. A header's value is known by what comes
    before it, and a key goes on over many lines.
    """
    begin = begin_of_word(text, len(text))
    header = _OPEN_HEADER.search(text, text.rfind("\n") + 1)
    if header:
        begin = min(begin, begin_of_word(text, header.start()))
    block = text.rfind(_KEY_BEGIN)
    if block >= 0 and _OPEN_KEY.match(text, block):
        begin = min(begin, block)
    return begin


def begin_of_word(text: str, end: int) -> int:
    """Return where the word begins that goes on to `end`."""
    return max(text.rfind(blank, 0, end) for blank in " \t\r\n") + 1


def rest_of_token(token: str) -> re.Pattern[str]:
    """Return what matches all that a token of this beginning may go on with."""
    return _KEY_TEXT if token.startswith(_KEY_BEGIN) else _WORD


def _likely_patterns(text: str) -> tuple[re.Pattern[str], ...]:
    patterns: tuple[re.Pattern[str], ...] = ()
    if _MAY_BE_TOKEN.any_in(text):
        patterns += (_TOKEN,)
    if _MAY_BE_HEADER.any_in(text):
        patterns += _HEADERS
    if "://" in text and "@" in text:
        patterns += _URL_PASSWORDS
    return patterns
