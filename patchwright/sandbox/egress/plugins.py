"""Refuse a list of hosts where a plug-in's sandboxes do not say they keep to it."""

from patchwright.core.errors import SandboxError
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec

# What such a factory has, and sets to true.
KEEPS_TO_DOMAINS = "keeps_to_domains"


def refuse_domains_unless_able(factory: RuntimeFactory) -> RuntimeFactory:
    return factory if getattr(factory, KEEPS_TO_DOMAINS, False) else _WithoutDomains(factory)


class _WithoutDomains:
    """Starts what the factory starts, but for sandboxes with a list of hosts."""

    def __init__(self, factory: RuntimeFactory) -> None:
        self.kind = factory.kind
        self._factory = factory

    def start(self, spec: SandboxSpec) -> Runtime:
        if spec.domains:
            raise SandboxError(
                f"sandbox.network: sandboxes of the kind {self.kind!r} do not say that "
                "they keep to a list of hosts; use docker or local"
            )
        return self._factory.start(spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        return self._factory.attach(spec)

    def remove(self, run_id: str) -> int:
        return self._factory.remove(run_id)

    def reap(self) -> int:
        return self._factory.reap()
