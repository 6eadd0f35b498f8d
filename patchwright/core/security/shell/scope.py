"""Follow what a script assigns, and where it goes."""

from typing import Final

from tree_sitter import Node

from patchwright.core.security.paths import (
    HOME,
    REPOSITORY,
    SCRATCH,
    UNKNOWN_PART,
    absolute,
)
from patchwright.core.security.shell.script import ShellCommand, UnreadableError, Values
from patchwright.core.security.shell.words import Inner, read_words, text_of

MAX_VALUES: Final = 200

AT_FIRST: Final[Values] = {
    "HOME": (HOME,),
    "PWD": (REPOSITORY,),
    "TMPDIR": (SCRATCH,),
}


class ShellScope:
    """The folder and the variables at one point of a script.

    A variable has all the values that it is ever given, since it is not known which
    branch is taken. A `cd` to somewhere unknown is taken for none.
    """

    def __init__(self, folder: str, values: Values) -> None:
        self.folder = folder
        self.values = dict(values)
        self._before = folder

    def assign(self, node: Node, inner: Inner) -> None:
        """Follow a `variable_assignment`."""
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return
        words = () if value is None else read_words(value, self.values, inner)
        self.learn(text_of(name), " ".join(word.text for word in words))

    def learn(self, name: str, value: str) -> None:
        """Add a value; raises `UnreadableError` when there are too many."""
        known = self.values.get(name, ())
        if value in known:
            return
        if len(known) >= MAX_VALUES:
            raise UnreadableError
        self.values[name] = (*known, value)

    def move(self, command: ShellCommand) -> None:
        if command.name in {"cd", "pushd"}:
            targets = [w.text for w in command.arguments if not w.text.startswith("-")]
            target = targets[0] if targets else HOME
            if command.arguments and command.arguments[0].text == "-":
                target = self._before
            if UNKNOWN_PART not in target:
                self._before, self.folder = (
                    self.folder,
                    absolute(target, self.folder),
                )
        elif command.name == "popd":
            self.folder = self._before
