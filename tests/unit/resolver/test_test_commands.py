"""Which commands run given test files, by what the files of a repository tell."""

import pytest

from patchwright.resolver.proof.runner_calls import read_call
from patchwright.resolver.proof.test_commands import (
    TestTree,
    for_files,
    groups_for_all,
    groups_for_files,
)
from patchwright.resolver.proof.test_files import find_related, leaf_of

UNIT = "import unittest\n\nclass ATest(unittest.TestCase):\n    def test_a(self): ...\n"
PLAIN = "def test_a():\n    assert 1\n"
NODE = 'require("node:test")("a", () => 1)\n'


@pytest.mark.parametrize(
    ("files", "new", "commands"),
    [
        (
            {"tests/test_a.py": UNIT},
            ["tests/test_a.py"],
            [
                (
                    "python3 -m unittest tests/test_a.py",
                    "python3 -m pytest tests/test_a.py",
                )
            ],
        ),
        (
            {"tests/test_a.py": PLAIN, "tests/conftest.py": "x = 1\n"},
            ["tests/test_a.py", "tests/conftest.py"],
            [("python3 -m pytest tests/test_a.py",)],
        ),
        (
            {"test_a.py": UNIT, "pyproject.toml": "[tool.pytest.ini_options]\n"},
            ["test_a.py"],
            [("python3 -m pytest test_a.py", "python3 -m unittest test_a.py")],
        ),
        (
            {"back/setup.py": "", "back/tests/test_a.py": PLAIN},
            ["back/tests/test_a.py"],
            [("cd back && python3 -m pytest tests/test_a.py",)],
        ),
        ({"a.test.js": NODE}, ["a.test.js"], [("node --test ./a.test.js",)]),
        (
            {"package.json": '{"devDependencies": {"vitest": "1"}}', "a.test.ts": ""},
            ["a.test.ts"],
            [("npx --no-install vitest run ./a.test.ts",)],
        ),
        (
            {"package.json": '{"scripts": {"test": "tap"}}', "a.test.js": ""},
            ["a.test.js"],
            [("npm test",)],
        ),
        (
            {"go.mod": "", "cart/cart_test.go": ""},
            ["cart/cart_test.go"],
            [("go test ./cart",)],
        ),
        (
            {"Cargo.toml": "", "tests/cart.rs": ""},
            ["tests/cart.rs"],
            [("cargo test --test cart",)],
        ),
        (
            {"Gemfile": "", "spec/a_spec.rb": ""},
            ["spec/a_spec.rb"],
            [("bundle exec rspec spec/a_spec.rb", "rspec spec/a_spec.rb")],
        ),
        (
            {"composer.json": "", "tests/CartTest.php": ""},
            ["tests/CartTest.php"],
            [
                (
                    "vendor/bin/phpunit tests/CartTest.php",
                    "phpunit tests/CartTest.php",
                )
            ],
        ),
        (
            {"pom.xml": "", "src/test/java/CartTest.java": ""},
            ["src/test/java/CartTest.java"],
            [("mvn -q test -Dtest=CartTest",)],
        ),
        (
            {
                "back/setup.py": "",
                "back/test_a.py": PLAIN,
                "front/package.json": "{}",
                "front/a.test.js": NODE,
            },
            ["back/test_a.py", "front/a.test.js"],
            [
                ("cd back && python3 -m pytest test_a.py",),
                ("cd front && node --test ./a.test.js",),
            ],
        ),
        ({"tests/data.py": "A = 1\n"}, ["tests/data.py"], []),
    ],
)
def test_new_test_files_are_run_by_what_is_there(
    files: dict[str, str], new: list[str], commands: list[tuple[str, ...]]
) -> None:
    tree = TestTree(frozenset(files), files)
    groups = groups_for_files(tree, new)
    assert [group.commands for group in groups] == commands
    for group in groups:
        assert all(read_call(command) for command in group.commands)


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        (
            {"test_a.py": UNIT, "more/test_b.py": UNIT},
            [("python3 -m unittest more/test_b.py test_a.py", "python3 -m pytest")],
        ),
        ({"test_a.py": PLAIN}, [("python3 -m pytest",)]),
        ({"manage.py": "", "data.py": UNIT}, []),
        (
            {"manage.py": "", "app/test_a.py": UNIT},
            [("python3 -m pytest", "python3 manage.py test")],
        ),
        ({"go.mod": "", "a_test.go": ""}, [("go test ./...",)]),
        ({"a.test.js": NODE}, [("node --test ./a.test.js",)]),
    ],
)
def test_all_tests_are_run_by_what_is_there(
    files: dict[str, str], commands: list[tuple[str, ...]]
) -> None:
    tree = TestTree(frozenset(files), files)
    tests = [path for path in files if "test_" in path or "_test" in path]
    tests += [path for path in files if ".test." in path]
    groups = groups_for_all(tree, tests)
    assert [group.commands for group in groups] == commands


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q -k some", "pytest tests/test_a.py"),
        ("cd tests && python3 -m pytest", "cd tests && python3 -m pytest test_a.py"),
        ("python3 -m unittest tests.test_b", "python3 -m unittest tests/test_a.py"),
        ("cd other && pytest", None),
        ("make test", None),
        ("go test ./...", None),
    ],
)
def test_files_are_run_in_the_way_that_has_worked(
    command: str, expected: str | None
) -> None:
    call = read_call(command)
    assert call is not None
    assert for_files(call, ["tests/test_a.py"]) == expected


def test_related_tests_name_the_changed_module() -> None:
    texts = {
        "tests/test_other.py": "from shop import other\n",
        "tests/test_uses.py": "from shop import cart\n",
        "tests/test_cart.py": "import shop\n",
        "tests/test_cartoon.py": "import cartoon\n",
    }
    changed = ["shop/cart.py", "shop/utils.py"]
    related = ("tests/test_cart.py", "tests/test_uses.py")
    assert find_related(changed, texts) == related
    assert find_related(["shop/__init__.py"], texts) == (
        *("tests/test_cart.py", "tests/test_other.py", "tests/test_uses.py"),
    )
    assert find_related(["main.py"], texts) == ()


@pytest.mark.parametrize(
    ("name", "leaf"),
    [
        ("tests/test_a.py::ATest::test_b[1-x]", "test_b"),
        ("tests.test_a.ATest.test_b", "test_b"),
        ("a.test.js > cart > counts every piece", "counts every piece"),
        ("example.com/shop/cart.TestPieces", "TestPieces"),
        ("tests::it_counts", "it_counts"),
    ],
)
def test_a_test_has_a_name_of_its_own(name: str, leaf: str) -> None:
    assert leaf_of(name) == leaf
