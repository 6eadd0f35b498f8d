"""How a job knows its own comments: by a signature that only it can make."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from pydantic import SecretStr

from patchwright.core.settings.model import Settings
from patchwright.core.text.escape import split_marks
from patchwright.core.types.threads import ThreadPost, ThreadRef
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules

# Who the token of a job is: https://github.com/apps/github-actions
JOB_LOGIN: Final = "github-actions[bot]"
KNOWN_BY_SIGNATURE: Final = (
    "The bot recognises its own comment only if a job with the same secrets "
    "(`llm-api-key`) signed it, and nobody has edited it."
)
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


def read_own_text(
    thread: ThreadRef,
    post: ThreadPost,
    rules: GitHubTriggerRules,
    signer: CommentSigner | None,
) -> str | None:
    """Return what we have written in a post, None if we have not.

    The name that all workflows write under says nothing without a signature.
    """
    if not rules.is_own(post.author.login):
        return None
    if signer is not None:
        return signer.verified_text(thread, post.text)
    return None if rules.is_own(JOB_LOGIN) else post.text


def _is_key(name: str) -> bool:
    return bool(_KEY_NAME.search(name))


def _secret_bytes(secret: SecretStr | None) -> bytes:
    return secret.get_secret_value().encode() if secret else b""
