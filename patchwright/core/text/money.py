"""Write amounts of money for people."""

from typing import Final

_CENT: Final = 0.01


def dollars(amount_usd: float) -> str:
    """Return `$0.41`; what is less than a cent and not nothing is written finer."""
    if 0 < amount_usd < _CENT:
        return f"${amount_usd:.4f}"
    return f"${amount_usd:.2f}"
