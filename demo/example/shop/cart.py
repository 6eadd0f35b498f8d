"""What a customer is about to buy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """Some pieces of one article; `price` is for one piece, in cents."""

    article: str
    price: int
    pieces: int = 1


def total(lines: list[Line], discount_percent: int = 0) -> int:
    """Return the price of all lines in cents, less the discount."""
    net = sum(line.price for line in lines)
    return net - net * discount_percent // 100
