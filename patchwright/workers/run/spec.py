"""What the settings ask of a sandbox."""

from patchwright.core.runtime import SandboxSpec
from patchwright.core.security.domains import Domain, read_domain
from patchwright.core.settings.model import Settings
from patchwright.core.settings.work import SandboxSettings

# A run's sandboxes may outlive its time limit by what proof and delivery take.
_GRACE_S = 3600.0


def sandbox_spec(settings: Settings, run_id: str) -> SandboxSpec:
    wanted = settings.sandbox
    return SandboxSpec(
        run_id=run_id,
        image=wanted.image,
        network=wanted.network == "allow",
        domains=_domains(wanted),
        memory=wanted.memory,
        disk=wanted.disk,
        cpus=wanted.cpus,
        command_timeout_s=wanted.command_timeout_s,
        lifetime_s=settings.limits.max_minutes * 60 + _GRACE_S,
        engine_runtime=wanted.runtime,
    )


def _domains(wanted: SandboxSettings) -> tuple[Domain, ...]:
    if wanted.network != "allowlist":
        return ()
    return tuple(map(read_domain, wanted.allow_domains))
