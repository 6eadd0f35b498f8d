"""What a machine may be checked for; light, for the command line that lists it."""

from enum import StrEnum


class Purpose(StrEnum):
    """The commands that `patchwright doctor` looks after."""

    RESOLVE = "resolve"
    SERVE = "serve"
