"""Say in words what a reader may do, as comments in Jira have no buttons."""

from patchwright.core.channel import Offer, Offers


def with_offers(text: str, offers: Offers, mention: str) -> str:
    """Add the offers that the text does not make already."""
    lines = [line for offer in offers if (line := _offer_line(text, offer, mention))]
    return "\n\n".join((text, "\n".join(lines))) if lines else text


def _offer_line(text: str, offer: Offer, mention: str) -> str:
    if offer.url:
        return "" if offer.url in text else f"- [{offer.words}]({offer.url})"
    command = f"{mention} {offer.command}"
    # What can be picked from a list elsewhere is written in an answer here.
    if offer.picks_repository or not offer.command or command in text:
        return ""
    more = " …" if offer.asks else ""
    return f"- {offer.words}: reply `{command}{more}`"
