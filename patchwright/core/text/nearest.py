"""Find the known name that somebody probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the name that looks most like this one, however little that is."""
    return get_close_matches(name, list(known), n=1, cutoff=0.0)[0]
