"""An OpenID provider: where people sign in, and who they are by its signed word."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final, TypeVar, cast
from urllib.parse import parse_qs, urlencode, urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, KeySetSerialization
from pydantic import SecretStr, TypeAdapter, ValidationError

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    AuthenticationError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.oidc.claims import Claims, LogoutToken, ProviderFacts

TIMEOUT_S: Final = 15
# How far the provider's clock may be from ours.
LEEWAY_S: Final = 60
# A provider seldom changes its addresses, and announces a new key before it signs.
_KNOWN_FOR: Final = timedelta(hours=1)
# A token of a key that we don't know makes us ask, not more often than this.
_KEYS_ASKED_EVERY: Final = timedelta(seconds=30)
# Signatures that a public key checks. With HMAC a provider's public key would be the
# secret, and `none` is no signature.
# https://www.rfc-editor.org/rfc/rfc8725#section-3.1
_ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
_MAX_ANSWER_BYTES: Final = 1 << 20
_BAD_REQUEST: Final = 400
_BROKEN: Final = 500
# As long as one must be.
_NO_VERIFIER: Final = "-" * 43
_NO_HEADERS: Final[Mapping[str, str]] = {}
_EMAIL_CLAIMS: Final = frozenset({"email", "email_verified"})
# https://openid.net/specs/openid-connect-backchannel-1_0.html#LogoutToken
_LOGOUT_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
_LOGOUT_LIFE: Final = timedelta(minutes=5)


class _Metadata(Value):
    """https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    backchannel_logout_supported: bool = False
    # Empty where it does not say.
    code_challenge_methods_supported: tuple[str, ...] = ()
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _IdToken(Value):
    sub: str
    name: str = ""
    preferred_username: str = ""
    email: str = ""
    # Some providers write it as a text.
    email_verified: bool = False
    sid: str = ""


class _LogoutClaims(Value):
    iss: str
    jti: str
    iat: int
    exp: int | None = None
    sub: str = ""
    sid: str = ""


_T = TypeVar("_T", bound=Value)
_OBJECT: Final[TypeAdapter[dict[str, Any]]] = TypeAdapter(dict[str, Any])


@dataclass
class _ProviderFacts:
    """What the provider has said about itself, and since when we know."""

    metadata: _Metadata | None = None
    since: datetime | None = None
    keys: KeySet | None = None
    keys_since: datetime | None = None


@dataclass(frozen=True)
class OidcProvider:
    """An `IdentityProvider` that is asked over HTTP, as its client `client_id`.

    `redirect_uri` is the address to which it sends people back. `group_claim` is the
    one that names their groups, empty where nobody asks for them.
    """

    issuer: str
    client_id: str
    client_secret: SecretStr | None
    scopes: tuple[str, ...]
    redirect_uri: str
    clock: Clock
    group_claim: str = ""
    _known: _ProviderFacts = field(default_factory=_ProviderFacts)
    _lock: Lock = field(default_factory=Lock)

    def address(self, state: str, verifier: str) -> str:
        """Return where a browser goes to sign in."""
        with self._session() as client:
            address, _ = client.create_authorization_url(
                self._metadata().authorization_endpoint,
                state=state,
                code_verifier=verifier,
                nonce=_nonce(verifier),
            )
        return str(address)

    def fetch_claims(self, code: str, verifier: str) -> Claims:
        """Return who came back with the code, which works once.

        Raises `AuthenticationError` if the provider does not take it, or if its word is
        not for us, not for this browser, or not signed.
        """
        metadata = self._metadata()
        with _translated(), self._session() as client:
            answer = client.fetch_token(
                metadata.token_endpoint,
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
            )
        claims = self._verify(str(answer.get("id_token", "")), "ID token")
        checked = CodeIDToken(
            claims.claims,
            claims.header,
            options={
                "iss": {"essential": True, "value": self.issuer},
                "aud": {"essential": True, "value": self.client_id},
                "sub": {"essential": True},
            },
            params={
                "nonce": _nonce(verifier),
                "client_id": self.client_id,
                "access_token": str(answer.get("access_token", "")),
            },
        )
        with _translated():
            checked.validate(int(self.clock.now().timestamp()), LEEWAY_S)
        access_token = str(answer.get("access_token", ""))
        return self._claims(self._complete(claims.claims, access_token))

    def read_logout(self, token: str) -> LogoutToken:
        """Return what a provider says that it ended; `AuthenticationError` otherwise.

        https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation
        """
        claims = self._verify(token, "logout token").claims
        read = _read(_LogoutClaims, claims)
        is_ours = self.client_id in (_texts(claims.get("aud")) or ())
        events = claims.get("events")
        is_logout = isinstance(events, dict) and isinstance(
            events.get(_LOGOUT_EVENT), dict
        )
        if read.iss != self.issuer or not is_ours:
            raise AuthenticationError("the logout token is not for this service")
        if not is_logout or "nonce" in claims:
            raise AuthenticationError("the token is not a logout token")
        if not (read.sub or read.sid):
            raise AuthenticationError("the logout token says not whose session ends")
        return LogoutToken(
            id=read.jti,
            subject=read.sub,
            provider_sid=read.sid,
            until=self._until(read),
        )

    def examine(self) -> ProviderFacts:
        """Return what it can do, and how it answers somebody who would sign in."""
        metadata = self._metadata()
        challenges = metadata.code_challenge_methods_supported
        status, refusal = self._begin_sign_in()
        return ProviderFacts(
            keys=len(self._fetch_keys().keys),
            tells_logout=metadata.backchannel_logout_supported,
            lacks_pkce=bool(challenges) and "S256" not in challenges,
            # It must not send people back to an address that it does not know.
            # https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
            knows_redirect=status != _BAD_REQUEST,
            sign_in_refusal=refusal,
            client_refusal=self._offer_no_code(metadata.token_endpoint),
        )

    def _begin_sign_in(self) -> tuple[int, str]:
        """Return the status of the first page, and the error that we are told."""
        address = self.address(_NO_VERIFIER, _NO_VERIFIER)
        with _translated():
            answer = requests.get(address, timeout=TIMEOUT_S, allow_redirects=False)
        place = answer.headers.get("location", "")
        told = parse_qs(urlsplit(place).query)
        words = told.get("error", []) + told.get("error_description", [])
        is_told = place.startswith(self.redirect_uri) and "error" in told
        return answer.status_code, ": ".join(words) if is_told else ""

    def _offer_no_code(self, endpoint: str) -> str:
        with _translated(), self._session() as client:
            try:
                client.fetch_token(
                    endpoint,
                    grant_type="authorization_code",
                    code="none",
                    code_verifier=_NO_VERIFIER,
                )
            except AuthlibBaseError as error:
                return str(error.error)
        return ""

    def end_session_address(self, back: str) -> str:
        """Return where a browser signs out of the provider; empty where it can't.

        https://openid.net/specs/openid-connect-rpinitiated-1_0.html
        """
        address = self._metadata().end_session_endpoint
        if not address:
            return ""
        query = {"client_id": self.client_id, "post_logout_redirect_uri": back}
        mark = "&" if "?" in address else "?"
        return f"{address}{mark}{urlencode(query)}"

    def _until(self, read: _LogoutClaims) -> datetime:
        """Return when the message is too old; it must not be so yet, nor of later."""
        now, leeway = self.clock.now(), timedelta(seconds=LEEWAY_S)
        try:
            made_at = datetime.fromtimestamp(read.iat, now.tzinfo)
            ends_at = datetime.fromtimestamp(read.exp, now.tzinfo) if read.exp else None
        except (ValueError, OverflowError, OSError) as error:
            raise AuthenticationError(
                "the logout token has an unusable time"
            ) from error
        until = min(made_at + _LOGOUT_LIFE, ends_at or made_at + _LOGOUT_LIFE) + leeway
        if until <= now or made_at > now + leeway:
            raise AuthenticationError("the logout token is too old, or of the future")
        return until

    def _complete(self, signed: Mapping[str, Any], access_token: str) -> dict[str, Any]:
        """Return the claims of an ID token, and of the endpoint what it lacks.

        Many providers write little more than the subject into the token.
        https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims
        """
        address = self._metadata().userinfo_endpoint
        lacks = self._wanted_claims() - signed.keys()
        if not (lacks and address and access_token):
            return dict(signed)
        told = _fetch_json(address, {"Authorization": f"Bearer {access_token}"})
        # https://openid.net/specs/openid-connect-core-1_0.html#UserInfoResponse
        if told.get("sub") != signed.get("sub"):
            raise AuthenticationError("the provider told of another person than signed")
        # An address is verified by the word of whoever names it, and of no other.
        names_email = signed if "email" in signed else told
        email = {k: v for k, v in names_email.items() if k in _EMAIL_CLAIMS}
        others = {k: v for k, v in {**told, **signed}.items() if k not in _EMAIL_CLAIMS}
        return {**others, **email}

    def _wanted_claims(self) -> set[str]:
        wanted = {"preferred_username"} if "profile" in self.scopes else set()
        wanted |= {"email"} if "email" in self.scopes else set()
        return wanted | ({self.group_claim} if self.group_claim else set())

    def _claims(self, claims: Mapping[str, Any]) -> Claims:
        read = _read(_IdToken, claims)
        name = read.preferred_username or read.name or read.email or read.sub
        groups = claims.get(self.group_claim) if self.group_claim else None
        return Claims(
            subject=read.sub,
            name=name,
            email=read.email if read.email_verified else "",
            groups=_texts(groups),
            provider_sid=read.sid,
        )

    def _verify(self, token: str, what: str) -> jwt.Token:
        """Return a token that the provider has signed."""
        if not token:
            raise AuthenticationError(f"{self.issuer} sent no {what}")
        try:
            return self._decode(token, self._keys())
        except (JoseError, ValueError) as error:
            newer = self._newer_keys()
            if newer is None:
                raise _not_signed(what, error) from error
        try:
            return self._decode(token, newer)
        except (JoseError, ValueError) as error:
            raise _not_signed(what, error) from error

    def _decode(self, token: str, keys: KeySet) -> jwt.Token:
        registry = jws.JWSRegistry(algorithms=list(_ALGORITHMS))
        return jwt.decode(token, keys, algorithms=list(_ALGORITHMS), registry=registry)

    def _session(self) -> OAuth2Session:
        secret = self.client_secret.get_secret_value() if self.client_secret else None
        return OAuth2Session(
            self.client_id,
            secret,
            token_endpoint_auth_method=self._auth_method(secret),
            scope=" ".join(dict.fromkeys(("openid", *self.scopes))),
            redirect_uri=self.redirect_uri,
            code_challenge_method="S256",
            default_timeout=TIMEOUT_S,
        )

    def _auth_method(self, secret: str | None) -> str:
        if secret is None:
            return "none"
        # Basic is what a provider has that names none.
        known = self._metadata().token_endpoint_auth_methods_supported
        has_basic = "client_secret_basic" in known or not known
        return "client_secret_basic" if has_basic else "client_secret_post"

    def _metadata(self) -> _Metadata:
        with self._lock:
            known, now = self._known, self.clock.now()
            if known.metadata and known.since and now - known.since < _KNOWN_FOR:
                return known.metadata
        address = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        found = _read(_Metadata, _fetch_json(address))
        if found.issuer != self.issuer:
            raise AuthenticationError(
                f"the provider at {self.issuer} calls itself {found.issuer}; set "
                "oidc.issuer to exactly that name"
            )
        with self._lock:
            self._known.metadata, self._known.since = found, now
        return found

    def _keys(self) -> KeySet:
        with self._lock:
            known = self._known
            is_fresh = (
                known.keys_since is not None
                and self.clock.now() - known.keys_since < _KNOWN_FOR
            )
            if known.keys is not None and is_fresh:
                return known.keys
        return self._fetch_keys()

    def _newer_keys(self) -> KeySet | None:
        """Fetch the keys again, None where that was done just now."""
        with self._lock:
            since = self._known.keys_since
        if since is not None and self.clock.now() - since < _KEYS_ASKED_EVERY:
            return None
        return self._fetch_keys()

    def _fetch_keys(self) -> KeySet:
        address = self._metadata().jwks_uri
        found = _fetch_json(address)
        try:
            keys = KeySet.import_key_set(cast(KeySetSerialization, found))
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise ServiceError(f"the keys at {address} cannot be read") from error
        with self._lock:
            self._known.keys, self._known.keys_since = keys, self.clock.now()
        return keys


def _nonce(verifier: str) -> str:
    """Return a nonce that binds the ID token to the browser that has the verifier."""
    digest = hashlib.sha256(b"nonce " + verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _texts(groups: object) -> tuple[str, ...] | None:
    if isinstance(groups, str):
        return (groups,)
    if isinstance(groups, list):
        return tuple(one for one in groups if isinstance(one, str))
    return None


def _not_signed(what: str, error: Exception) -> AuthenticationError:
    return AuthenticationError(
        f"the {what} is not signed by the provider ({type(error).__name__})"
    )


def _read(kind: type[_T], claims: Mapping[str, Any]) -> _T:
    try:
        return kind.model_validate(claims)
    except ValidationError as error:
        fields = ", ".join(str(one["loc"][0]) for one in error.errors() if one["loc"])
        raise AuthenticationError(
            f"the provider sent something else than expected: {fields}"
        ) from error


@contextmanager
def _translated() -> Iterator[None]:
    """Raise our own errors in place of the libraries', without what was sent."""
    try:
        yield
    except AuthlibBaseError as error:
        raise AuthenticationError(
            f"the provider does not accept the sign-in: {error.error}"
        ) from error
    except JoseError as error:
        raise AuthenticationError(
            f"the provider's word does not count: {error}"
        ) from error
    except requests.RequestException as error:
        raise ServiceUnavailableError(
            f"the provider does not answer ({type(error).__name__})"
        ) from error
    except ValueError as error:
        raise ServiceError("the provider's answer cannot be read") from error


def _fetch_json(
    address: str, headers: Mapping[str, str] = _NO_HEADERS
) -> dict[str, Any]:
    with _translated():
        response = requests.get(
            address,
            headers=headers,
            timeout=TIMEOUT_S,
            allow_redirects=False,
            stream=True,
        )
        with response:
            body = response.raw.read(_MAX_ANSWER_BYTES + 1, decode_content=True)
            if response.status_code >= _BROKEN:
                words = f"{address} answered {response.status_code}"
                raise ServiceUnavailableError(words)
            if not response.ok or len(body) > _MAX_ANSWER_BYTES:
                raise ServiceError(f"{address} answered {response.status_code}")
    try:
        return _OBJECT.validate_json(body)
    except ValidationError as error:
        raise ServiceError(f"{address} did not answer with a JSON object") from error
