"""Hold a delivery to the site whose secret signed it."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from patchwright.core.errors import TenantError
from patchwright.integrations.jira.answers import JiraModel


def check_tenant(delivery: JiraModel, host: str) -> None:
    """Raise TenantError if anything in it says that it is of another site.

    A webhook of an administrator, and only these are signed, names things by the
    address of the site, in the cloud as well. What an app gets by way of
    api.atlassian.com is not signed with a secret, and does not pass for the site.
    https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks
    """
    if not all(_is_below(address, host) for address in _find_addresses(delivery)):
        raise TenantError("the delivery speaks for another site than jira.base_url")


def _find_addresses(part: JiraModel) -> Iterator[str]:
    for name, value in part:
        if name == "address" and value:
            yield value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, JiraModel):
                yield from _find_addresses(inner)


def _is_below(address: str, host: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    # With or without TLS: a proxy in front of Jira may be what speaks it.
    is_web = parts.scheme in {"http", "https"}
    return is_web and f"{parts.netloc}{parts.path}".lower().startswith(f"{host}/")
