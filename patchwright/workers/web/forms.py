"""What a browser may do with a page that has a form."""

from urllib.parse import urlsplit


def form_policy(nonce: str, sends_to: str = "") -> str:
    """Return a policy for the content: no scripts, and the styles with that nonce.

    What is sent from the page may lead to us, and to that one other address.
    """
    parts = urlsplit(sends_to)
    other = f" {parts.scheme}://{parts.netloc}" if sends_to else ""
    rules = (
        "default-src 'none'",
        f"style-src 'nonce-{nonce}'",
        f"form-action 'self'{other}",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return "; ".join(rules)
