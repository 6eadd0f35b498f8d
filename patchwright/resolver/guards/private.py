"""Find words of a private place in what a change would show to everybody."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from patchwright.resolver.guards.secrets import Leak
from patchwright.resolver.guards.versions import FileVersions

# Yields from where to where a text repeats them.
FindPrivateSpans = Callable[[str], Iterator[tuple[int, int]]]


@dataclass(frozen=True)
class PrivateWords:
    """`find` knows them; with `are_known_here` so does whoever reads the answer.

    `find_in_name` does the same for the name of a file, where fewer words count.
    """

    find: FindPrivateSpans
    find_in_name: FindPrivateSpans
    are_known_here: bool


def find_repeated(
    versions: Sequence[FileVersions], private: PrivateWords
) -> tuple[Leak, ...]:
    """Return where a change adds such words; what was there before is public."""
    before = {
        one.before[start:end].casefold()
        for one in versions
        if one.before is not None
        for start, end in private.find(one.before)
    }
    leaks = (leak for one in versions for leak in _new_private_words(one, before, private))
    return tuple(dict.fromkeys(leaks))


def _new_private_words(one: FileVersions, before: set[str], private: PrivateWords) -> Iterator[Leak]:
    shown = one.change.shown
    is_new_name = one.before is None or one.change.old_path
    if is_new_name and any(True for _ in private.find_in_name(one.change.path)):
        yield Leak(shown, 1)
    text = one.after or ""
    for start, end in private.find(text):
        if text[start:end].casefold() not in before:
            yield Leak(shown, text.count("\n", 0, start) + 1)
