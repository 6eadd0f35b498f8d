"""What a person lets us do in their name on a service."""

from datetime import datetime

from pydantic import SecretStr

from patchwright.core.types.base import Value


class PersonalToken(Value):
    """A token of a person, and what it is renewed with.

    Without `expires_at` it holds until it is taken back, and without a `refresh_token`
    it can't be renewed.
    """

    access_token: SecretStr
    expires_at: datetime | None = None
    refresh_token: SecretStr | None = None
