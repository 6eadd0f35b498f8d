"""Who may read what a run writes, and what was agreed about that."""

from patchwright.core.types.base import Value
from patchwright.resolver.placing.consent import Consent


class RunVisibility(Value):
    """Whether everybody may read the repository, and what may be shown there then."""

    is_public: bool = False
    consent: Consent | None = None

    @property
    def keeps_out(self) -> bool:
        return self.is_public and self.consent is not Consent.SHARE
