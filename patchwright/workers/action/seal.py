"""Sign the status comments of a job, so that a later job knows them for ours.

All workflows of a repository write as `github-actions[bot]`, and some repeat what
strangers say. A later job shares with this one nothing but its secrets.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from pydantic import SecretStr

from patchwright.core.settings.model import Settings
from patchwright.core.text.marks import split_marks
from patchwright.core.types.threads import ThreadRef

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
        """Sign for one thread; how the service has kept blanks makes no difference."""
        words = " ".join(text.split())
        message = f"{ref}\n{words}".encode("utf-8", "surrogatepass")
        return hmac.new(self.key, message, sha256).hexdigest()


def find_comment_signer(
    settings: Settings, environ: Mapping[str, str], *, has_job_token: bool
) -> CommentSigner | None:
    """Return the seal of this job's secrets, or None where no secret lasts.

    One secret is enough, and the first that is set counts: whoever knows it can spend
    our money anyhow.
    """
    github = settings.github
    lasting = (
        *(key.key.get_secret_value() for key in settings.security.encryption_keys),
        _secret_bytes(settings.llm.api_key),
        *(_secret_bytes(one.api_key) for _, one in sorted(settings.llm.named.items())),
        *(environ[name].encode() for name in sorted(environ) if _is_key(name)),
        _secret_bytes(github.private_key),
        b"" if has_job_token else _secret_bytes(github.token),
    )
    secret = next(filter(None, lasting), b"")
    return CommentSigner(hmac.new(secret, _PURPOSE, sha256).digest()) if secret else None


def _is_key(name: str) -> bool:
    return bool(_KEY_NAME.search(name))


def _secret_bytes(secret: SecretStr | None) -> bytes:
    return secret.get_secret_value().encode() if secret else b""
