"""Sample values with all fields set, made from what their types say."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, JsonValue, SecretStr

AT: Final = datetime(2026, 11, 29, 3, 0, 0, 123456, tzinfo=UTC)
ANY_JSON: Final[JsonValue] = {"list": [1, 2.5, None, True, "word"], "empty": {}}

_Model = TypeVar("_Model", bound=BaseModel)


def samples(kind: type[_Model]) -> list[_Model]:
    """Return values that together have each member of each enumeration and union."""
    return [sample(kind, pick) for pick in range(_choices(kind))]


def sample(kind: type[_Model], pick: int = 0) -> _Model:
    """Return a value with all fields set; `pick` selects members of enumerations."""
    fields = kind.model_fields.items()
    return kind.model_validate(
        {
            field.alias or key: _value(field.annotation, pick, key)
            for key, field in fields
        }
    )


def _value(kind: Any, pick: int, name: str) -> object:
    if kind is JsonValue:
        return ANY_JSON
    kind = getattr(kind, "__supertype__", kind)
    arguments, origin = get_args(kind), get_origin(kind)
    if origin is Annotated:
        return _value(arguments[0], pick, name)
    if origin in (Union, UnionType):
        members = _members(kind)
        return _value(members[pick % len(members)], pick, name)
    if origin is Literal:
        return arguments[pick % len(arguments)]
    if origin is tuple:
        return tuple(_value(arguments[0], pick + more, name) for more in range(2))
    if origin in (dict, Mapping):
        return {f"{name} key": _value(arguments[1], pick, name)}
    return _simple_value(kind, pick, name)


def _simple_value(kind: Any, pick: int, name: str) -> object:
    text = f"{name} {pick} ä"
    simple = {
        str: text,
        SecretStr: SecretStr(text),
        int: 3 + pick,
        float: 0.25 + pick,
        bool: True,
        datetime: AT,
        date: AT.date(),
        AwareDatetime: AT,
    }
    if kind in simple:
        return simple[kind]
    if issubclass(kind, Enum):
        return list(kind)[pick % len(kind)]
    made: BaseModel = sample(kind, pick)
    return made


def _choices(kind: Any) -> int:
    """Return the size of the largest enumeration or union in a type."""
    if kind is JsonValue:
        return 1
    if get_origin(kind) in (Union, UnionType):
        members = _members(kind)
        return max(len(members), *map(_choices, members))
    if get_origin(kind) is Literal:
        return len(get_args(kind))
    if get_origin(kind) is not None:
        return max(map(_choices, get_args(kind)))
    if not isinstance(kind, type):
        return 1
    if issubclass(kind, Enum):
        return len(kind)
    if issubclass(kind, BaseModel):
        fields = kind.model_fields.values()
        return max((_choices(field.annotation) for field in fields), default=1)
    return 1


def _members(kind: Any) -> list[Any]:
    return [one for one in get_args(kind) if one is not NoneType]
