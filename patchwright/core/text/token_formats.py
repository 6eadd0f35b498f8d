"""Know a credential by its looks."""

import re

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
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}",
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

# The first group is kept: the scheme, the user's name.
_VALUE = r"[\w.~+/=-]{6,}"
_QUOTES = r"[\"'\\ \t]{0,8}"
_HEADER_HINTS = ("earer", "EARER", "uthorization", "UTHORIZATION")
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


def may_hold_token(text: str) -> bool:
    """Tell, fast and erring on the safe side, whether a format could be in the text."""
    return any(_likely_patterns(text))


def blot_tokens(text: str, blot: str) -> str:
    for pattern in _likely_patterns(text):
        text = pattern.sub(lambda match: match[1] + blot, text)
    return text


def _likely_patterns(text: str) -> tuple[re.Pattern[str], ...]:
    patterns: tuple[re.Pattern[str], ...] = ()
    if any(hint in text for hint in _HINTS):
        patterns += (_TOKEN,)
    if any(hint in text for hint in _HEADER_HINTS):
        patterns += _HEADERS
    if "://" in text and "@" in text:
        patterns += _URL_PASSWORDS
    return patterns
