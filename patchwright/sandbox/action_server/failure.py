"""The one error that an action reports to the model."""

from __future__ import annotations


class ActionError(Exception):
    """An action cannot be carried out; the text tells the model what to do instead."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text
