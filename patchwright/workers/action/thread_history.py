"""What an earlier run has left in the thread, known by the signature of its comment."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Protocol

from pydantic import SecretStr

from patchwright.core.commands import BotCommand, TellLastRun, Verb, definition_of
from patchwright.core.settings.model import Settings
from patchwright.core.text.escape import Marked, split_marks
from patchwright.core.types.base import Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import Thread, ThreadPost, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.resolver.run_store import Redact, clean_text

_SIGNATURE: Final = re.compile(r"\s*<!-- patchwright:seal=([0-9a-f]{64}) -->\s*\Z")
_PURPOSE: Final = b"patchwright status comment v1"
# Providers' own names for the keys that the library for models finds by itself. What a
# job gets for itself alone, such as a token, is none of them.
_KEY_NAME: Final = re.compile(r"_API_KEY\Z", re.IGNORECASE)


@dataclass(frozen=True)
class CommentSigner:
    """Signs with a key that only jobs with the same secrets have."""

    key: bytes

    def sign(self, ref: ThreadRef, text: str) -> str:
        """Return a status comment with its signature; other texts as they are."""
        if not split_marks(text).state:
            return text
        return f"{text}\n<!-- patchwright:seal={self._digest(ref, text)} -->"

    def verified_text(self, ref: ThreadRef, text: str) -> str | None:
        """Return a text without its signature, or None if that is not ours."""
        found = _SIGNATURE.search(text)
        if found is None:
            return None
        signed = text[: found.start()]
        is_ours = hmac.compare_digest(found[1], self._digest(ref, signed))
        return signed if is_ours else None

    def _digest(self, ref: ThreadRef, text: str) -> str:
        """Sign for one thread; changes of white space by the service do not matter."""
        words = " ".join(text.split())
        message = f"{ref}\n{words}".encode("utf-8", "surrogatepass")
        return hmac.new(self.key, message, sha256).hexdigest()


def find_comment_signer(
    settings: Settings, environ: Mapping[str, str], *, has_job_token: bool
) -> CommentSigner | None:
    """Return a signer with this job's secrets, or None if later jobs have none of them.

    The first secret that is set is used: a person who knows it can spend our money
    anyway.
    """
    github = GitHubSettings.of(settings)
    lasting = (
        *(key.key.get_secret_value() for key in settings.security.encryption_keys),
        _secret_bytes(settings.llm.api_key),
        *(_secret_bytes(one.api_key) for _, one in sorted(settings.llm.named.items())),
        *(environ[name].encode() for name in sorted(environ) if _is_key(name)),
        _secret_bytes(github.private_key),
        b"" if has_job_token else _secret_bytes(github.token),
    )
    secret = next(filter(None, lasting), b"")
    return (
        CommentSigner(hmac.new(secret, _PURPOSE, sha256).digest()) if secret else None
    )


def _is_key(name: str) -> bool:
    return bool(_KEY_NAME.search(name))


def _secret_bytes(secret: SecretStr | None) -> bytes:
    return secret.get_secret_value().encode() if secret else b""


# No start is tried twice, also not inside another `<sub>`: thousands of them cost time.
_FOOTER: Final = re.compile(
    r"(?<!\n)\n*<sub>[^<]*(?:<(?!/?sub>)[^<]*)*</sub>\s*\Z", re.DOTALL
)
# Who the token of a job is: https://github.com/apps/github-actions
JOB_LOGIN: Final = "github-actions[bot]"
KNOWN_BY_SIGNATURE: Final = (
    "The bot recognises its own comment only if a job with the same secrets "
    "(`llm-api-key`) signed it, and nobody has edited it."
)
_NO_RUN: Final = "The bot finds no run of its own in this thread."
_LAST_SAID: Final = "The last run wrote:"
_NO_PLAN: Final = "No plan in this thread waits for an approval."
_MINOR_OUTCOMES: Final = frozenset({OutcomeKind.ANSWERED, OutcomeKind.REFUSED})
_UNFINISHED: Final = frozenset({"queued", "running"})


class OwnAccount(Protocol):
    """Knows which account is ours."""

    def is_own(self, login: str) -> bool: ...


@dataclass(frozen=True)
class RunPlace:
    """Where runs are cancelled: what one is called, and where all are listed.

    `known_by` says how we know our own comments.
    """

    run: str
    url: str
    known_by: str


class PreviousRun(Value):
    """The newest run that has reported its end: its id, its outcome and its text."""

    run_id: str
    state: str
    words: str

    @property
    def has_plan(self) -> bool:
        return self.state == OutcomeKind.PLAN_POSTED


def find_previous_run(
    thread: Thread,
    account: OwnAccount,
    seal: CommentSigner | None,
    redact: Redact,
) -> PreviousRun | None:
    """Read the newest run in our own status comments; those of others say nothing.

    What only answered or refused stands behind what did more. The first comment of a
    run is its own: whatever has the same signature later is a copy. Its words are
    cleaned of secrets once the signature has been read, which is over all of them.
    """
    by_run: dict[str, PreviousRun] = {}
    for post in thread.posts[1:]:
        text = _verified_text(post, thread.ref, account, seal)
        marked = _status_in(text) if text else Marked(text="")
        if marked.state:
            words = clean_text(redact, _FOOTER.sub("", marked.text))
            previous = PreviousRun(
                run_id=marked.run_id, state=marked.state, words=words
            )
            by_run.setdefault(previous.run_id, previous)
    found = tuple(by_run.values())[::-1]
    runs = [one for one in found if one.state not in _MINOR_OUTCOMES]
    return next(iter((*runs, *found)), None)


def _verified_text(
    post: ThreadPost,
    ref: ThreadRef,
    account: OwnAccount,
    seal: CommentSigner | None,
) -> str | None:
    """Return what we have written in a post, None if we have not.

    The name that all workflows write under says nothing.
    """
    if not account.is_own(post.author.login):
        return None
    if seal is not None:
        return seal.verified_text(ref, post.text)
    return None if account.is_own(JOB_LOGIN) else post.text


def _status_in(text: str) -> Marked:
    """Read a status comment: it ends with its mark, and has no other."""
    marked = split_marks(text)
    is_status = marked.marks and text.rstrip().endswith(marked.marks[-1])
    return marked if is_status and len(marked.marks) == 1 else Marked(text=text)


def with_approved_plan(trigger: Trigger, previous: PreviousRun) -> Trigger:
    """Return a yes to a plan as the request to carry it out."""
    request = (
        f"@{trigger.asker.login} has approved this plan of run {previous.run_id[:8]}. "
        f"Carry it out:\n\n{previous.words}"
    )
    return trigger.replace(request=request)


def answer_about_previous_run(
    previous: PreviousRun | None, command: BotCommand, place: RunPlace
) -> Outcome | None:
    """Answer what is asked about earlier runs; None for what is no such question.

    What an earlier run has said is not called ours: its agent has had a part in it.
    """
    ours = _answer(previous, command.verb, place)
    if not ours:
        return None
    last_words = previous.words if previous and _asks_about_last(command.verb) else ""
    return Outcome(
        kind=OutcomeKind.ANSWERED,
        reason=command.verb,
        summary=f"{ours}\n\n{last_words}" if last_words else ours,
        service_text=ours,
    )


def _answer(previous: PreviousRun | None, verb: Verb, place: RunPlace) -> str:
    if verb is Verb.STOP:
        return (
            f"{_running_text(previous)} To stop a run, cancel its {place.run}: "
            f"{place.url}"
        )
    if verb in (Verb.APPROVE, Verb.REJECT):
        return _plan_text(previous, verb, place)
    if _asks_about_last(verb):
        lost = f"{_NO_RUN} {place.known_by}"
        return f"{_running_text(previous)} {lost if previous is None else _LAST_SAID}"
    return ""


def _asks_about_last(verb: Verb) -> bool:
    return isinstance(definition_of(verb).when_idle, TellLastRun)


def _running_text(previous: PreviousRun | None) -> str:
    """Tell whether a run works meanwhile: such a command waits for none."""
    if previous is None or previous.state not in _UNFINISHED:
        return "No run works in this thread now."
    return f"Run {previous.run_id[:8]} has not reported its result yet."


def _plan_text(previous: PreviousRun | None, verb: Verb, place: RunPlace) -> str:
    if previous is None or not previous.has_plan:
        return f"{_NO_PLAN} {place.known_by}"
    if verb is Verb.APPROVE:
        return ""
    return f"The plan of run {previous.run_id[:8]} is rejected; nothing was changed."
