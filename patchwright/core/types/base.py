"""The base of every value that crosses a process, a table or a wire."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value with a JSON form.

    Unknown fields are dropped when one is read, so that an older worker survives a
    newer log.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
