"""The errors that cross layers; each says what its catcher can do about it."""

from datetime import datetime


class PatchwrightError(Exception):
    """An error for a person, with a message in plain words.

    `reason` is a short code, fit for a metric label and for `reason` in the JSON
    output.
    """

    reason = "error"


class SettingsError(PatchwrightError):
    """The configuration is wrong; the message names the key and the remedy."""

    reason = "configuration"


class WrongMomentError(PatchwrightError):
    """What somebody wants is possible, but not now; nothing is broken."""

    reason = "wrong-moment"


class SignatureError(PatchwrightError):
    """A delivery was not signed by a secret we hold."""

    reason = "bad-signature"


class PayloadError(PatchwrightError):
    """A verified delivery does not have the shape its event promises."""

    reason = "bad-payload"


class TenantError(PatchwrightError):
    """A delivery comes from another site than the one whose secret signed it."""

    reason = "wrong-tenant"


class UnknownEffectError(PatchwrightError):
    """Another version has planned something that this one does not know."""

    reason = "unknown-effect"


class ServiceError(PatchwrightError):
    """An outside service refused or failed a request."""

    reason = "service"


class ServiceUnavailableError(ServiceError):
    """The service did not answer, or answered 5xx; the same call may work later."""

    reason = "service-unavailable"


class RateLimitedError(ServiceError):
    """The service asks us to wait until `until`."""

    reason = "rate-limited"

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class AuthenticationError(ServiceError):
    """The service does not accept our credential."""

    reason = "bad-credential"


class PermissionDeniedError(ServiceError):
    """The credential is valid, but this act is not allowed with it."""

    reason = "forbidden"


class NotFoundError(ServiceError):
    """The service knows no such thing, or hides it from us."""

    reason = "not-found"


class EmptyRepositoryError(NotFoundError):
    """The repository has no commit, so there is nothing to work on."""

    reason = "no-commits"


class InvalidRequestError(ServiceError):
    """The service understood the request and says which part of it cannot be.

    `fields` are the parts by the service's own names, where it tells them.
    """

    reason = "invalid-request"

    def __init__(self, message: str, fields: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.fields = fields


class AlreadyExistsError(InvalidRequestError):
    """The service has already what was to be made."""


class DraftRefusedError(InvalidRequestError):
    """A pull request cannot be a draft here."""


class GitError(PatchwrightError):
    """Git refused; the message carries its last lines, without credentials."""

    reason = "git"


class ObjectFormatError(GitError):
    """One repository names its objects by SHA-1, the other by SHA-256."""

    reason = "object-format"


class BranchMovedError(GitError):
    """Somebody else's commits are on the branch now; nothing was written over them."""

    reason = "branch-moved"


class BranchClosedError(BranchMovedError):
    """The branch was deleted, or its pull request is not open any more."""


class PushRefusedError(GitError):
    """A rule of the repository, or one of ours, keeps the branch from being written."""

    reason = "push-refused"


class BranchBlockedError(PushRefusedError):
    """A branch whose name is the beginning of the other's keeps it from being made."""

    reason = "branch-blocked"


class CommitDiffersError(GitError):
    """The service made another commit than was asked for; it is not there any more."""

    reason = "commit-differs"


class SandboxError(PatchwrightError):
    """The sandbox could not be started or used."""

    reason = "sandbox"


class RuntimeLostError(SandboxError):
    """The sandbox stopped answering; its files are gone with it."""

    reason = "sandbox-lost"


class LeaseLostError(PatchwrightError):
    """Another worker holds this job now; nothing more may be written for it."""

    reason = "lease-lost"
