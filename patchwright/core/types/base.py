"""The base of every value that crosses a process, a table or a wire."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from patchwright.core.text.surrogates import readable


def _readable(value: object) -> object:
    return readable(value) if isinstance(value, str) else value


# What the agent says to people. A control character in it must not cost the work.
Words = Annotated[str, BeforeValidator(_readable)]


class Value(BaseModel):
    """A frozen value with a JSON form.

    Unknown fields are dropped when one is read, so that an older worker survives a
    newer log.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
