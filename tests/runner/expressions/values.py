"""Values of expressions: what they are worth, as text, as a number and compared.

https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#operators
"""

import json
import math
import re
from typing import TypeAlias

Value: TypeAlias = bool | float | str | list["Value"] | dict[str, "Value"] | None

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_HEX_OR_OCTAL = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")


def is_truthy(value: Value) -> bool:
    if isinstance(value, list | dict):
        return True
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value)


def to_text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | int):
        return str(int(value)) if float(value).is_integer() else repr(value)
    if isinstance(value, str):
        return value
    return "Array" if isinstance(value, list) else "Object"


def to_number(value: Value) -> float:
    if isinstance(value, list | dict):
        return math.nan
    if not isinstance(value, str):
        return float(value or 0)
    text = value.strip()
    if _HEX_OR_OCTAL.fullmatch(text):
        return float(int(text, 0))
    if not text:
        return 0.0
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def to_json(value: Value) -> str:
    return json.dumps(_plain(value), indent=2, ensure_ascii=False)


def are_equal(left: Value, right: Value) -> bool:
    """Compare loosely: text without regard to case, unlike kinds as numbers."""
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return left is right
    if left is None and right is None:
        return True
    return to_number(left) == to_number(right)


def is_less(left: Value, right: Value) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() < right.lower()
    return to_number(left) < to_number(right)


def _plain(value: Value) -> Value:
    """Write whole numbers without a point, as JavaScript does."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
