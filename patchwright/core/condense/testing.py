"""Recognise a command that runs tests."""

import re
from typing import Final

_RUNNER: Final = re.compile(
    r"(?:^|[\s;&|(/])"
    r"(?:pytest|py\.test|tox|nox|unittest|nose2|trial|jest|vitest|mocha|ava|karma"
    r"|rspec|phpunit|pest|ctest|bats|prove|busted|minitest"
    r"|(?:npm|pnpm|yarn|bun|deno|cargo|go|mvn|mvnw|gradle|gradlew|dotnet|swift|mix"
    r"|rake|rails|stack|cabal|dune|zig|bazel|sbt|lein|composer|make|just|task|flutter"
    r"|dart|hatch|manage\.py)(?:\s+(?:run|-\S+))*\s+(?:test|check|spec)\b"
    r"|cargo\s+nextest)"
    r"(?![\w.=-])"
)


def is_test_command(command: str) -> bool:
    return _RUNNER.search(command) is not None
