"""By which commands single tests are run again, and all tests of a repository."""

import pytest

from patchwright.resolver.proof.test_selection import command_for, whole_suite

IN_PYTEST = ("tests/test_a.py::TestA::test_b[1-x y]", "tests/test_a.py::test_c")
IN_UNITTEST = ("tests.test_a.CaseA.test_b", "tests.test_a.CaseA.test_c")


@pytest.mark.parametrize(
    ("command", "tests", "selection"),
    [
        (
            "pytest -q -k 'a and b' -x tests/test_a.py | tail -3",
            IN_PYTEST,
            "pytest -q 'tests/test_a.py::TestA::test_b[1-x y]' tests/test_a.py::test_c",
        ),
        (
            "cd tests && PYTHONPATH=.. pytest -n 2 --ds=app.x",
            IN_PYTEST[1:],
            "cd tests && PYTHONPATH=.. pytest -n 2 --ds=app.x test_a.py::test_c",
        ),
        ("pytest --maxfail 1 tests", ["a/test_it.py"], "pytest a/test_it.py"),
        ("cd /srv && pytest", IN_PYTEST, None),
        ("pytest", ["it::works"], None),
        ("pytest", [], None),
        ("grep -q a b", IN_PYTEST, None),
        (
            "python3 -B -m unittest -v tests/test_a.py",
            IN_UNITTEST,
            f"python3 -B -m unittest -v {IN_UNITTEST[0]} {IN_UNITTEST[1]}",
        ),
        (
            "python3 -m unittest discover -s tests -k other",
            ["test_a.CaseA.test_b"],
            "python3 -m unittest discover -s tests -k '*test_a.CaseA.test_b'",
        ),
        (
            "python3 tests/test_a.py -f",
            ["__main__.CaseA.test_b"],
            "python3 tests/test_a.py -k '*.CaseA.test_b'",
        ),
        (
            "python manage.py test --settings s shop",
            ["shop.tests.CaseA.test_b"],
            "python manage.py test --settings s shop.tests.CaseA.test_b",
        ),
        ("python3 -m unittest", ["setUpClass (a.CaseA)"], None),
        (
            "node --test --test-name-pattern=x test/",
            ["test/a.test.js::suite > adds (all)"],
            "node --test --test-name-pattern '(adds \\(all\\))$' test/a.test.js",
        ),
        (
            "cd web && jest --ci src",
            ["web/a.js::total adds", "web/a.js::total x"],
            "cd web && jest --ci -t '^(total adds|total x)$' --runTestsByPath a.js",
        ),
        (
            "npx vitest run --reporter verbose a.test.ts",
            ["a.test.ts::total adds"],
            "npx vitest run a.test.ts --reporter verbose -t '^(total adds)$'",
        ),
        (
            "npx mocha --exit -g x test",
            ["test/a.js::total adds"],
            "npx mocha --exit -g '^(total adds)$' test/a.js",
        ),
        (
            "go test -count=1 -run TestX ./...",
            ["a.test/shop/cart.TestA/one", "a.test/shop.TestB", "a.test/shop.TestA"],
            "go test -count=1 -run '^(TestA|TestB)$' a.test/shop/cart a.test/shop",
        ),
        (
            "cargo test --offline adds",
            ["cart::tests::adds", "it::whole"],
            "cargo test --offline -- --exact tests::adds whole",
        ),
        ("cargo test", ["cart::src/lib.rs - total"], None),
        (
            "bundle exec rspec spec",
            ["spec/a_spec.rb::cart adds"],
            "bundle exec rspec -e 'cart adds' spec/a_spec.rb",
        ),
        (
            "phpunit tests",
            ['A\\BTest::testA with data set "two"'],
            "phpunit --filter '/^(A\\\\BTest::testA with data set \"two\")$/' tests",
        ),
        ("ctest --test-dir b -R x", ["a.b"], "ctest --test-dir b -R '^(a\\.b)$'"),
        (
            "mvn -q test -Dtest=X",
            ["shop.CartTest.adds"],
            "mvn -q test -Dtest='shop.CartTest#adds' -DfailIfNoTests=false",
        ),
        (
            "./gradlew test --offline",
            ["shop.CartTest.adds"],
            "./gradlew cleanTest test --tests shop.CartTest.adds --offline",
        ),
        (
            "./gradlew clean test",
            ["shop.CartTest.adds"],
            "./gradlew clean test --tests shop.CartTest.adds",
        ),
        ("make test", ["tests/test_a.py::test_b"], None),
    ],
)
def test_single_tests_are_run_again(
    command: str, tests: tuple[str, ...], selection: str | None
) -> None:
    assert command_for(command, tests) == selection


def test_more_tests_than_a_command_has_room_for_are_not_named() -> None:
    tests = [f"tests/test_a.py::test_number_{number}" for number in range(5_000)]
    assert command_for("pytest", tests) is None


@pytest.mark.parametrize(
    ("command", "paths", "suite"),
    [
        ("pytest -q -x tests/test_a.py::test_b 2>&1 | tail", (), "pytest -q"),
        ("cd api && uv run pytest -k a", (), "cd api && uv run pytest"),
        ("python3 -m unittest test_a", (), "python3 -m unittest discover"),
        (
            "python3 -m unittest -v tests.test_a",
            ("tests/test_a.py",),
            "python3 -m unittest discover -v -s tests",
        ),
        (
            "python3 -m unittest tests.test_a",
            ("tests/__init__.py", "tests/test_a.py"),
            "python3 -m unittest discover",
        ),
        (
            "python3 -m unittest discover -s a -t . -k b",
            (),
            "python3 -m unittest discover -s a -t .",
        ),
        ("python3 -B test_a.py", (), "python3 -B -m unittest discover"),
        ("python3 manage.py test shop", (), "python3 manage.py test"),
        ("./check.sh", (), None),
        ("go test -run TestA ./cart", (), "go test ./..."),
        ("cargo test -p cart adds", (), "cargo test -p cart"),
        ("npx jest --ci a.test.js -t adds", (), "npx jest --ci"),
        ("npx vitest run a.test.ts", (), "npx vitest run"),
        ("npm test -- a.test.js", (), "npm test"),
        ("npm run test:unit", (), "npm run test:unit"),
        ("phpunit tests/ATest.php", ("tests/ATest.php",), "phpunit tests"),
        ("phpunit tests/ATest.php", ("phpunit.xml",), "phpunit"),
        ("rspec spec/a_spec.rb:3", (), "rspec"),
        ("mvn -o test -Dtest=A", (), "mvn -o test"),
        ("ctest --test-dir b -R a", (), "ctest --test-dir b"),
        ("ruby test/test_a.rb", (), None),
    ],
)
def test_all_tests_are_run_with_the_same_runner(
    command: str, paths: tuple[str, ...], suite: str | None
) -> None:
    assert whole_suite(command, paths) == suite
