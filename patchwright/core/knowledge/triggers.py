"""Find the words of a trigger in a request."""

import re
from collections.abc import Sequence
from functools import lru_cache

# Chinese, Japanese and Korean put no blanks around a word, or particles behind it.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_LETTER = rf"[^\W{_UNSPACED}]"


def has_trigger(triggers: Sequence[str], request: str) -> bool:
    """Say whether one of the triggers stands in the request as words of its own.

    Case does not matter, nor how the words of a trigger are spaced.
    """
    return any(_pattern(trigger).search(request) for trigger in triggers if trigger)


@lru_cache(maxsize=512)
def _pattern(trigger: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in trigger.split())
    before = "" if re.match(f"[{_UNSPACED}]", trigger[0]) else f"(?<!{_LETTER})"
    after = f"(?!{_LETTER})" if re.match(_LETTER, trigger[-1]) else ""
    return re.compile(before + words + after, re.IGNORECASE)
