"""The protocol of what a repository says for agents to know."""

from typing import Protocol

from patchwright.core.events.types import Recalled


class KnowledgeLibrary(Protocol):
    """Texts from the base branch: how to work here, and what to know about parts."""

    def recall(self, query: str) -> Recalled:
        """Return what there is about it; that there is nothing is said as well."""
        ...


class NoKnowledgeLibrary:
    """What a run has whose repository says nothing."""

    def recall(self, query: str) -> Recalled:
        return Recalled(text=f"This repository says nothing about {query!r}.")
