"""The settings of GitLab: gitlab.com, or a server of one's own, also below a path."""

import base64
import binascii
import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator

from patchwright.core.settings.fields import (
    Pem,
    Secrets,
    SettingsSection,
    address_parts,
    is_address,
)
from patchwright.core.types.people import Permission
from patchwright.core.types.threads import ForgeForms, ThreadKind

SERVICE: Final = "gitlab"
HOW_TO_CONFIGURE: Final = "set PATCHWRIGHT_GITLAB__TOKEN"

API_PATH: Final = "/api/v4"
_PUBLIC_HOST: Final = "gitlab.com"
_MENTION: Final = re.compile(r"[@/][A-Za-z0-9_][A-Za-z0-9_.-]*\Z")

# https://docs.gitlab.com/user/project/merge_requests/reviews/#checkout-merge-requests-locally-through-the-head-ref
FORMS: Final = ForgeForms(
    has_groups=True,
    pages_path="-/",
    thread_paths={
        "issues": ThreadKind.ISSUE,
        "work_items": ThreadKind.ISSUE,
        "merge_requests": ThreadKind.MERGE_REQUEST,
    },
    pull_kind=ThreadKind.MERGE_REQUEST,
    pull_ref="refs/merge-requests/{number}/head",
    new_pull_path="merge_requests/new?merge_request%5Bsource_branch%5D={head}"
    "&merge_request%5Btarget_branch%5D={base}",
    # https://docs.gitlab.com/user/profile/#use-an-automatically-generated-private-commit-email
    mail_name="{id}-{login}",
    access_words={
        Permission.NONE: "no",
        # Guests have it, and in a public project everybody.
        Permission.READ: "read",
        Permission.TRIAGE: "reporter",
        Permission.WRITE: "developer",
        Permission.MAINTAIN: "maintainer",
        Permission.ADMIN: "owner",
    },
    moved_are_new=True,
)

# https://docs.gitlab.com/user/project/integrations/webhooks/#signing-tokens
SIGNING_PREFIX: Final = "whsec_"
_LEAST_SIGNING_BYTES: Final = 16


def read_gitlab_address(value: str) -> str:
    """Return the root of a GitLab, also where the address of its API is given."""
    if not is_address(value):
        raise ValueError(
            "expected an address such as https://HOST or https://HOST/PATH"
        )
    root, host, path = address_parts(value)
    if host in (_PUBLIC_HOST, f"www.{_PUBLIC_HOST}"):
        return f"https://{_PUBLIC_HOST}"
    return root + path.removesuffix(API_PATH)


class GitLabSettings(SettingsSection):
    """How to reach GitLab, and as which user: the owner of the token."""

    base_url: Annotated[str, AfterValidator(read_gitlab_address)] = Field(
        "https://gitlab.com",
        description="Address of GitLab, with its path if it has one; API, pages, git "
        "and sign-in are below it.",
    )
    ca_bundle: str = Field(
        "",
        description="PEM file with the certificate authorities to trust, for your own "
        "server.",
    )
    token: SecretStr | None = Field(
        None,
        description="Access token of the bot's user, of a group or of a project, with "
        "the scope `api`.",
    )
    webhook_secret: Secrets = Field(
        (),
        description="Secret token of the webhooks; while you change it, set both, "
        "separated by a comma.",
    )
    webhook_signing_key: Secrets = Field(
        (),
        description="Signing token of the webhooks (`whsec_...`), where your GitLab "
        "has it; deliveries without a right signature are refused then.",
    )
    client_id: str = Field(
        "", description="Application id, for people who sign in with GitLab."
    )
    client_secret: SecretStr | None = Field(
        None, description="Secret of the application, for people who sign in."
    )
    mention: str = Field(
        "@patchwright",
        description="What mentions the bot in a text: a name with an @, or a `/word`.",
    )
    label: str = Field(
        "patchwright", min_length=1, description="Label that starts a run."
    )
    poll_seconds: float = Field(
        60.0,
        ge=0,
        description="Seconds between two polls for requests that came with no "
        "webhook; 0: never.",
    )
    signing_key: Pem | None = Field(
        None, description="Private SSH key that signs commits, in OpenSSH's format."
    )

    @field_validator("mention")
    @classmethod
    def _read_mention(cls, value: str) -> str:
        if not _MENTION.match(value):
            raise ValueError(
                "expected a name with an @ in front, such as @patchwright, or a word "
                "with a slash, such as /fix"
            )
        return value

    @field_validator("webhook_signing_key")
    @classmethod
    def _read_signing_keys(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for one in value:
            read_signing_key(one)
        return value

    @property
    def is_configured(self) -> bool:
        return self.token is not None

    @property
    def is_own_server(self) -> bool:
        """Whether it is a server of one's own, which private networks may have."""
        return self.host != _PUBLIC_HOST

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def noreply_domain(self) -> str:
        """The mail domain for commits of an account that hides its address."""
        return f"users.noreply.{self.host}"


def read_signing_key(key: SecretStr) -> bytes:
    """Return what signs deliveries; raises `ValueError` if that is no signing token."""
    text = key.get_secret_value()
    try:
        found = base64.b64decode(text.removeprefix(SIGNING_PREFIX), validate=True)
    except binascii.Error:
        found = b""
    if not text.startswith(SIGNING_PREFIX) or len(found) < _LEAST_SIGNING_BYTES:
        raise ValueError(
            "expected `whsec_` and base64, as GitLab shows it for the webhook"
        )
    return found
