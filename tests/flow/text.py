"""Read what the bot writes: the same words in every run, without what varies."""

import re

_VARYING = {
    r"run=[0-9a-f]{32}": "run=RUN",
    r"\brun [0-9a-f]{8}\b": "run RUN",
    r"\b(text|title)=[0-9a-f]{12}\b": r"\1=DIGEST",
    r"`[0-9a-f]{10}`": "`COMMIT`",
    r"`[0-9a-f]{12}`": "`DIGEST`",
    r"\b\d+\.\d s\b": "N s",
    r"· (\d+m )?\d+s\b": "· Ns",
    r"\b\d\d:\d\d:\d\dZ": "TIME",
    r"\b\d\d:\d\d UTC\b": "TIME",
    r"/runs/[0-9a-f]{32}(\?key=[0-9a-f]+-[0-9a-f]+)?": "/runs/RUN",
    r"/commit/[0-9a-f]{40}": "/commit/SHA",
    r"/link/[\w-]{43}": "/link/TOKEN",
    r"\bhttp://127\.0\.0\.1:\d+": "GITHUB",
    r"\b127\.0\.0\.1:\d+": "127.0.0.1:PORT",
}


# What stands around the parts of a pull request's text, and around those left empty.
_MARKS = (
    r"<!-- patchwright:part=(\w+)[^>]* -->\n\n\n<!-- patchwright:end=\1 -->\n*",
    r"<!-- patchwright:part=[^>]* -->\n",
    r"\n\n<!-- patchwright:end=\w+ -->",
)


def without_marks(text: str) -> str:
    """Return a pull request's text as people see it."""
    for pattern in _MARKS:
        text = re.sub(pattern, "", text)
    return text


def steady(text: str) -> str:
    """Put fixed words in the place of ids, commits, digests and times."""
    text = without_marks(text)
    for pattern, word in _VARYING.items():
        text = re.sub(pattern, word, text)
    return text
