"""A repository's own files say how its tests are started."""

import pytest

from patchwright.resolver.context.test_starts import (
    files_with_starts,
    find_test_starts,
)

WORKFLOW = """\
name: pytest
on: push
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - name: pytest
        run: pip install pytest tox && python -m pytest -q \\
             tests --cov=shop
      - run: |
          npm ci
          # npm test
          CI=1 npm test -- --ci
      - run: "go test ./..."
"""
CASES: list[tuple[str, str, list[str]]] = [
    (
        ".github/workflows/ci.yml",
        WORKFLOW,
        ["python -m pytest -q tests --cov=shop", "CI=1 npm test -- --ci"],
    ),
    (".github/workflows/x.yml", "- run: pip install pytest\n- name: tox\n", []),
    (
        "tox.ini",
        "[testenv]\ndeps = pytest\ncommands = pytest {posargs}\n",
        ["pytest {posargs}"],
    ),
    (
        "tox.ini",
        "[testenv]\ncommands =\n    coverage run -p -m pytest tests\n",
        ["coverage run -p -m pytest tests"],
    ),
    (
        "noxfile.py",
        'session.install("pytest")\nsession.run("pytest", "-x", *session.posargs)\n',
        ["nox (runs: pytest -x)"],
    ),
    (
        "package.json",
        '{"scripts": {"test": "vitest run"}}',
        ["npm test (runs: vitest run)"],
    ),
    (
        "package.json",
        '{"scripts": {"test": "echo \\"Error: no test specified\\""}}',
        [],
    ),
    ("package.json", "{", []),
    ("package.json", '["scripts"]', []),
    ("Makefile", "all: test\n\ntest: build\n\tpytest -q\n", ["make test"]),
    ("Makefile", "unit:\n\t@uv run pytest -q unit\n", ["uv run pytest -q unit"]),
    (
        ".gitlab-ci.yml",
        "job:\n  script:\n    - bundle exec rspec\n",
        ["bundle exec rspec"],
    ),
    ("setup.cfg", "[aliases]\ntest=pytest\n", ["pytest"]),
    (
        "pyproject.toml",
        '[tool.pytest.ini_options]\naddopts = "-q"\ntestpaths = ["tests"]\n',
        ["pytest (testpaths = ['tests'], addopts = -q)"],
    ),
    (
        "pyproject.toml",
        '[tool.hatch.envs.default.scripts]\ntest = "pytest x"\n',
        ["pytest x"],
    ),
    ("pyproject.toml", '[tool.poe.tasks]\ntest = "pytest y"\n', ["pytest y"]),
    ("pyproject.toml", "[tool", []),
    ("pyproject.toml", "tool = 3\n", []),
]


@pytest.mark.parametrize(("file", "text", "commands"), CASES)
def test_commands_are_found(file: str, text: str, commands: list[str]) -> None:
    assert [one.command for one in find_test_starts({file: text})] == commands


@pytest.mark.parametrize(
    "command",
    [
        *(
            "pytest",
            "python3 -m unittest discover",
            "poetry run pytest -x",
            "tox -e py",
        ),
        *("npx jest", "yarn test", "pnpm -r test", "node --test", "cargo test --all"),
        *("cargo nextest run", "mvn -B verify", "./mvnw test", "./gradlew clean check"),
        *("vendor/bin/phpunit", "ctest --output-on-failure", "make check", "just test"),
        *("bin/rails test", "dotnet test", "nox -s tests", "uv run --group dev pytest"),
    ],
)
def test_runners_are_known(command: str) -> None:
    [found] = find_test_starts({"x.yml": f"  script:\n    - {command}\n"})
    assert found.command == command


@pytest.mark.parametrize(
    "line",
    [
        *("- pip install pytest", "- name: pytest", "# pytest", "- npm install jest"),
        *("uses: x/tox@v1", "- echo pytest", "- pytest-cov", "- make", "go vet ./..."),
    ],
)
def test_other_lines_are_no_commands(line: str) -> None:
    assert find_test_starts({"x.yml": f"{line}\n"}) == ()


def test_workflows_about_tests_are_read_first_and_not_too_many() -> None:
    others = [f".github/workflows/{n}.yml" for n in range(9)]
    paths = [*others, ".github/workflows/test.yaml", "tox.ini", "docs/tox.ini"]
    found = files_with_starts(paths)
    assert found[0] == ".github/workflows/test.yaml"
    assert len(found) == 9
    assert found[-1] == "tox.ini"


def test_long_and_many_commands_are_cut() -> None:
    texts = {f"{n}.yml": f"- run: pytest {n} {'x' * 500}\n" for n in range(20)}
    starts = find_test_starts(texts)
    assert len(starts) == 6
    assert max(len(one.command) for one in starts) <= 120


def test_a_command_is_named_once() -> None:
    texts = {"a.yml": "- run: pytest\n", "b.yml": "- run: pytest\n"}
    assert [one.file for one in find_test_starts(texts)] == ["a.yml"]
