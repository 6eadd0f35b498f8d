"""Tell whether a text says anything that somebody could act on."""

import re
from functools import cache
from importlib.resources import files

from patchwright.core.text.hidden import strip_hidden

# What a person only writes who means something by it. A word is tried from its begin
# and once: from each of its letters, a long one would take the square of its length.
_CONCRETE = re.compile(
    r"`|https?://|!\[|(?<!\w)#\d+"  # code, addresses, pictures, other issues
    r"|(?<![\w-])[\w-]++\.[A-Za-z]\w{0,9}\b"  # files
    r"|(?<![\w.-])[\w.-]++/[\w./-]"  # folders
    r"|\b(?:make|npm|yarn|go|cargo) (?:test|check|build|run|lint|install)\b"
    r"|\w\(\)|[a-z][A-Z]|\w_\w|\w::\w"  # names in code
    r"|[A-Za-z](?:Error|Exception)\b|Traceback|\bat line \d+|:\d+:"  # from a log
    r"|\b\d+(?:\.\d+)+\b|\b\d{3,}\b"  # versions, codes, amounts
    r"|[\"“”„«»「」『』].+[\"“”„«»「」『』]"  # wording that is quoted
)
_QUESTION = re.compile(r"[?？؟]")  # noqa: RUF001 - as people type it
_MENTION = re.compile(r"(?<!\w)@[\w-]+(?:\[bot\])?")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")  # noqa: RUF001 - as people type it
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u097f]+[^\W\d_]*)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")

# A form that nobody has filled in: its hints, its boxes, its empty answers.
_FORM = re.compile(
    r"[\s*#]*(?:A clear and concise description of .*"
    r"|(?:If applicable, )?add (?:screenshots|any other context).*"
    r"|Is your feature request related to .*|(?:Desktop|Smartphone) \(please .*"
    r"|\d\.\s+(?:Go to|Click on|Scroll down to) '\.*'|\d\.\s+See error"
    r"|-? ?(?:OS|Browser|Version|Device):? \[e\.g\. .*|n/a"
    r"|[-*]\s+\[[ xX]\]\s+(?:I|I['’]ve|Yes|This issue)\b.*)[\s*:]*",  # noqa: RUF001 - as typed
    re.IGNORECASE,
)


def has_substance(text: str) -> bool:
    """Say whether a text names, shows or asks anything at all, in whatever language."""
    told = _MENTION.sub(" ", strip_hidden(text).text)
    if _CONCRETE.search(told) or _QUESTION.search(told):
        return True
    return any(map(_says_something, _WORD.findall(_APOSTROPHE.sub("", told.lower()))))


def without_form(text: str) -> str:
    """Return a text without what a form of the repository has put there."""
    lines = strip_hidden(text).text.split("\n")
    return "\n".join(line for line in lines if not _FORM.fullmatch(line))


def _says_something(word: str) -> bool:
    if word in _empty_words():
        return False
    if not _UNSPACED.search(word):
        return True
    for part in _empty_parts():
        word = word.replace(part, "")
    return bool(word)


@cache
def _empty_words() -> frozenset[str]:
    text = files("patchwright.resolver").joinpath("empty_words.txt")
    lines = text.read_text(encoding="utf-8").splitlines()
    return frozenset(
        w for line in lines if not line.startswith("#") for w in line.split()
    )


@cache
def _empty_parts() -> tuple[str, ...]:
    """Return those of languages without blanks, the longest first."""
    parts = (word for word in _empty_words() if _UNSPACED.search(word))
    return tuple(sorted(parts, key=len, reverse=True))
