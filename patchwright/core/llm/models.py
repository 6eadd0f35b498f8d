"""The models of a run, by what they are for."""

from dataclasses import dataclass
from typing import Self

from patchwright.core.llm.model import Model


@dataclass(frozen=True)
class Models:
    """One model for each role; where a role has none of its own, it is the main one.

    Without a `judge` nobody looks over what no test proves.
    """

    main: Model
    condense: Model
    delegate: Model
    judge: Model | None = None

    @classmethod
    def only(cls, model: Model) -> Self:
        """Return one model for all that a run needs."""
        return cls(main=model, condense=model, delegate=model)
