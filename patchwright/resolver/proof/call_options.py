"""Tell the options of a call from what it tells the runner to run."""

import posixpath
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from patchwright.resolver.proof.command_words import Word
from patchwright.resolver.proof.runner_calls import TestCall


@dataclass(frozen=True)
class OptionRules:
    """What a runner's options take. All are given by their names, as `-k`.

    `dropped` choose tests, or end a run early; `valued` have a value behind them. An
    option that is in both goes together with its value.
    """

    dropped: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()


def join_words(*words: str) -> str:
    return " ".join(words)


def from_folder(call: TestCall, test: str) -> str | None:
    """Return a test, or a path, as it is called from where the runner starts."""
    if call.folder is None:
        return None
    path, separator, rest = test.partition("::")
    return posixpath.relpath(path, call.folder or ".") + separator + rest


def kept_options(words: Sequence[Word], rules: OptionRules) -> list[str]:
    """Return the options that still hold for other tests, as they are written."""
    return [word.raw for word in _kept(words, rules)]


def _kept(words: Sequence[Word], rules: OptionRules) -> Iterator[Word]:
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word.value == "--":
            return
        if not word.value.startswith("-"):
            continue
        name, is_joined, _ = word.value.partition("=")
        has_value = not is_joined and _takes_next(name, waiting, rules.valued)
        value = [waiting.pop(0)] if has_value else []
        if not _is_dropped(name, rules.dropped):
            yield from (word, *value)


def _takes_next(name: str, rest: Sequence[Word], valued: Collection[str]) -> bool:
    """Tell whether the next word is the option's value.

    Of an option that is not known, it is if it does not look like a path.
    """
    if not rest or rest[0].value.startswith("-"):
        return False
    if name in valued:
        return True
    following = rest[0].value
    is_path = any(sign in following for sign in ("/", ".", "::"))
    return (
        name.startswith("--")
        and name not in _FLAGS
        and not is_path
        and (following.lower() not in ("test", "tests", "spec", "src"))
    )


def _is_dropped(name: str, dropped: Collection[str]) -> bool:
    """Tell whether an option goes; the value may be joined to a short one: `-kx`."""
    return name in dropped or (
        not name.startswith("--") and name[:2] in dropped and len(name) > len("-k")
    )


# Long options without a value, of any runner.
_FLAGS = frozenset(
    (
        *("--verbose", "--quiet", "--locals", "--showlocals", "--no-header", "--force"),
        *("--no-summary", "--strict-markers", "--no-cov", "--buffer", "--coverage"),
        *(
            "--runInBand",
            "--ci",
            "--no-coverage",
            "--silent",
            "--exit",
            "--check-leaks",
        ),
        *(
            "--workspace",
            "--all",
            "--all-features",
            "--locked",
            "--offline",
            "--release",
        ),
        *(
            "--testdox",
            "--no-interaction",
            "--run",
            "--colors",
            "--no-color",
            "--color",
        ),
    )
)
