"""Give `replace` of each value its own signature: its fields, as optional keywords.

A plug-in of mypy, because a base class cannot say this of the classes under it.
https://mypy.readthedocs.io/en/stable/extending_mypy.html
"""

from collections.abc import Callable
from typing import Final

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_NAMED_OPT, TypeInfo, Var
from mypy.plugin import MethodSigContext, Plugin
from mypy.types import AnyType, FunctionLike, Instance, Type, TypeOfAny, get_proper_type

_BASE: Final = "patchwright.core.types.base.Replaceable"
# Where pydantic's own plug-in, which must run too, keeps the fields of a class.
_METADATA: Final = "pydantic-mypy-metadata"


def plugin(version: str) -> type[Plugin]:  # noqa: ARG001 - mypy asks for it
    return ReplacePlugin


class ReplacePlugin(Plugin):
    """Know `replace` wherever it is called on something that is a class of ours."""

    def get_method_signature_hook(
        self, fullname: str
    ) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _with_fields if fullname.endswith(".replace") else None


def _with_fields(context: MethodSigContext) -> FunctionLike:
    """Return the signature of `replace` with the fields in place of any keyword."""
    owner = get_proper_type(context.type)
    if not isinstance(owner, Instance) or not owner.type.has_base(_BASE):
        return context.default_signature
    names = list(owner.type.metadata[_METADATA]["fields"])
    return context.default_signature.copy_modified(
        arg_types=[_type_of(owner, name) for name in names],
        arg_kinds=[ARG_NAMED_OPT] * len(names),
        arg_names=names,
    )


def _type_of(owner: Instance, name: str) -> Type:
    """Return the type of a field, which may be declared by a base or be generic."""
    for base in owner.type.mro:
        found = base.names.get(name)
        if found and isinstance(found.node, Var) and found.node.type:
            return _seen_from(owner, base, found.node.type)
    return AnyType(TypeOfAny.from_error)


def _seen_from(owner: Instance, base: TypeInfo, declared: Type) -> Type:
    return expand_type_by_instance(declared, map_instance_to_supertype(owner, base))
