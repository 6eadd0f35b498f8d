"""Judge that a program runs what other commands print."""

from collections.abc import Iterable, Iterator
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.shell.network import FETCHERS
from patchwright.core.security.shell.script import ShellCommand
from patchwright.core.security.shell.words import without_escapes
from patchwright.core.security.verdicts import LOW_RISK, high_risk, medium_risk

RUNS_UNKNOWN: Final = "It runs code that is only known when it is run."
RUNS_HIDDEN: Final = "It runs code that is hidden in another form."

_DECODERS: Final = frozenset(
    {
        *("base64", "base32", "basenc", "xxd", "od", "hexdump", "uudecode", "openssl"),
        *("gpg", "gunzip", "gzip", "zcat", "bzcat", "xzcat", "rev", "tr", "cut", "sed"),
        *("awk", "perl", "python", "python3", "ruby", "node"),
    }
)
_SPEAKING: Final = frozenset({"echo", "printf"})
_FORMATS: Final = frozenset({"-e", "-n", "-ne", "-en", "%s", "%s\\n", "%b", "--"})


def judge_generated(sources: Iterable[ShellCommand]) -> Verdict:
    """Judge that the output of commands is run as a script.

    What is plain text in them is for `texts_of`, and judged by itself.
    """
    every = list(ShellCommand(words=(), folder="", piped_from=tuple(sources)).sources())
    names = {one.name for one in every}
    if names & FETCHERS:
        return high_risk("It runs what it downloads.")
    if names & _DECODERS:
        return high_risk(RUNS_HIDDEN)
    return LOW_RISK if is_plain_text(every) else medium_risk(RUNS_UNKNOWN)


def is_plain_text(sources: Iterable[ShellCommand]) -> bool:
    return all(
        source.name in _SPEAKING or source.stdin is not None for source in sources
    )


def texts_of(sources: Iterable[ShellCommand]) -> Iterator[str]:
    """Yield what commands print, as far as it stands in them."""
    for source in sources:
        if source.name in _SPEAKING:
            words = (w.text for w in source.arguments if w.text not in _FORMATS)
            yield without_escapes(" ".join(words))
        if source.stdin is not None:
            yield source.stdin
