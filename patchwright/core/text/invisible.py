"""Take out characters that nobody sees and a model reads."""

import re

# Everything of Unicode category Cf that shows nothing (the Arabic and Kaithi number
# signs do), control characters but tab and line feed, variation selectors, fillers.
INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")

_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_JOINING_SCRIPT = "\u0600-\u109f\u1780-\u18af\ua840-\uabff"  # Arabic to Khmer
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

# Where such a character changes what is seen, it stays. Joiners build one emoji out of
# several and shape letters; a selector picks the form of the character before it; a
# black flag with tags is the flag of a region.
# https://unicode.org/reports/tr51/#def_emoji_zwj_sequence
_MEANINGFUL = re.compile(
    f"(?:(?<=[{_PICTURE}])|(?<=[{_PICTURE}]\ufe0f))\u200d(?=[{_PICTURE}])"
    f"|(?<=[{_JOINING_SCRIPT}])[\u200c\u200d](?=[{_JOINING_SCRIPT}])"
    f"|(?<=[{_PICTURE}])[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)"
    f"|(?<=[{_IDEOGRAPH}])[\U000e0100-\U000e01ef]"
    "|\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f"
)
_EITHER = re.compile(f"({_MEANINGFUL.pattern})|{_INVISIBLE.pattern}")


def strip_invisible(text: str) -> tuple[str, int]:
    """Return the text without invisible characters, and how many there were."""
    if not _INVISIBLE.search(text):
        return text, 0
    cleaned = _EITHER.sub(lambda match: match[1] or "", text)
    return cleaned, len(text) - len(cleaned)


def is_invisible(text: str) -> bool:
    return bool(text) and strip_invisible(text)[0] == ""
