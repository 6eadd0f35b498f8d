"""What somebody is told privately about linking; Markdown."""

from typing import Final

from patchwright.core.channel import Offer, Offers
from patchwright.core.types.people import Actor
from patchwright.workers.linking.names import service_name

LINK_PATH: Final = "/link"


def link_address(public_url: str, token: str) -> str:
    return f"{public_url}{LINK_PATH}/{token}"


def invitation_text(actor: Actor, link: str, forge_name: str) -> str:
    return (
        f"I know you in {service_name(actor.service)}, but not who you are on "
        f"{forge_name}, and there it is decided what you may have done.\n\n"
        f"[Link your {forge_name} account]({link}): the link is yours alone, please "
        "don't pass it on. It counts once, within 15 minutes and in one browser. "
        "Then I go on with what you asked for."
    )


def invitation_offers(link: str, forge_name: str) -> Offers:
    return (Offer(words=f"Link with {forge_name}", url=link),)


def too_many_links_text(actor: Actor) -> str:
    """Say why there is no further link."""
    return (
        "You have got several links within an hour. Please open the newest one in "
        f"{service_name(actor.service)}, or ask again in an hour."
    )


def renewal_text(link: str, forge_name: str) -> str:
    """Say that what somebody had let us do has come to an end."""
    return (
        f"{forge_name} doesn't let me see your repositories any more, so I can't offer "
        f"them to choose from. [Link your account again]({link}), within 15 minutes."
    )
