"""The base of every value that crosses a process, a table or a wire."""

from typing import Never, Self

from pydantic import BaseModel, ConfigDict


class Replaceable(BaseModel):
    """A model of which a changed copy can be made."""

    def replace(self, **changes: Never) -> Self:
        """Return a copy with other values in the fields that are named.

        Nothing is validated anew: `scripts/mypy_replace.py` gives each class its own
        signature, with its fields as keywords. Without it, no keyword fits.
        """
        if not changes.keys() <= self.__dict__.keys():
            unknown = ", ".join(sorted(changes.keys() - self.__dict__.keys()))
            raise TypeError(f"{type(self).__name__} has no field {unknown}")
        return self.model_copy(update=changes)


class Value(Replaceable):
    """A frozen value with a JSON form.

    Unknown fields are dropped when one is read, so that an older worker survives a
    newer log.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
