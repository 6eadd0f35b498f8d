"""Slack's refusals as errors of the project: the one place that knows both."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.client import HTTPException

from pydantic import ValidationError
from slack_sdk.errors import SlackApiError, SlackClientError

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)

# Where Slack does not say how long; its limits are counted by the minute.
# https://docs.slack.dev/apis/web-api/rate-limits
DEFAULT_WAIT = timedelta(minutes=1)

_OK, _TOO_MANY, _BROKEN = 200, 429, 500
_LIMITS = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})


class SlackRefusalError(InvalidRequestError):
    """Slack said no by a code that nothing else here stands for."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def translate_errors(clock: Clock) -> Iterator[None]:
    """Let no error of slack_sdk or of its transport out."""
    try:
        yield
    except SlackApiError as error:
        raise map_error(error, clock.now()) from error
    except SlackClientError as error:
        raise ServiceError(f"the call to Slack failed: {error}") from error
    except (OSError, HTTPException) as error:
        kind = type(error).__name__
        raise ServiceUnavailableError(f"Slack did not answer ({kind})") from error
    except (AttributeError, ValueError) as error:
        # What slack_sdk makes of an answer that is no object or no text; pydantic's
        # `ValidationError` is one of the latter.
        kind = "shape" if isinstance(error, ValidationError) else "form"
        raise ServiceError(f"Slack's answer has an unexpected {kind}") from error


def map_error(error: SlackApiError, now: datetime) -> ServiceError:
    """Say in our words what a refusal means.

    Slack refuses with 200 and a code; a status of its own means a limit, or that the
    answer is not from the Web API itself.
    """
    answer = error.response
    data = answer.data if isinstance(answer.data, Mapping) else {}
    code = str(data.get("error") or "no explanation")
    words = f"Slack answered {code}{_details(data)}"
    if answer.status_code == _TOO_MANY or code in _LIMITS:
        return RateLimitedError(words, now + _wait(answer.headers))
    if code in _BY_CODE:
        return _BY_CODE[code](words)
    if answer.status_code >= _BROKEN or " " in code:
        # Codes have no blanks: slack_sdk says so that there was no JSON.
        return ServiceUnavailableError(f"Slack answered {answer.status_code}: {code}")
    if answer.status_code != _OK:
        return ServiceError(f"Slack answered {answer.status_code}: {code}")
    return SlackRefusalError(words, code)


def _wait(headers: Mapping[str, str]) -> timedelta:
    lower = {key.lower(): value for key, value in headers.items()}
    header = lower.get("retry-after", "")
    return timedelta(seconds=int(header)) if header.isdigit() else DEFAULT_WAIT


def _details(data: Mapping[str, object]) -> str:
    """Tell the scope that is missing, and what is wrong with a block."""
    if needed := data.get("needed"):
        return f", the app lacks {needed}"
    metadata = data.get("response_metadata")
    messages = metadata.get("messages") if isinstance(metadata, Mapping) else None
    if isinstance(messages, list) and messages:
        return f": {'; '.join(str(one) for one in messages[:3])}"
    return ""


# https://docs.slack.dev/reference/methods has the codes of each method.
_CODES: Mapping[type[ServiceError], str] = {
    AuthenticationError: """
        invalid_auth not_authed token_revoked token_expired account_inactive
        org_login_required invalid_client_id bad_client_secret invalid_code
        code_already_used code_expired bad_redirect_uri
        """,
    PermissionDeniedError: """
        not_in_channel user_not_in_channel missing_scope no_permission is_archived
        restricted_action restricted_action_read_only_channel
        restricted_action_thread_only_channel restricted_action_thread_locked
        restricted_action_non_threadable_channel access_denied ekm_access_denied
        not_allowed_token_type team_access_not_granted accesslimited thread_locked
        cant_update_message cant_delete_message edit_window_closed cannot_dm_bot
        messages_tab_disabled not_reactable user_disabled
        """,
    NotFoundError: """
        channel_not_found message_not_found thread_not_found user_not_found
        users_not_found user_not_visible team_not_found file_not_found
        """,
    ServiceUnavailableError: """
        internal_error fatal_error service_unavailable request_timeout
        team_added_to_org
        """,
}
_BY_CODE: Mapping[str, type[ServiceError]] = {
    code: kind for kind, codes in _CODES.items() for code in codes.split()
}
