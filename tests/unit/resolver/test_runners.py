"""Which commands are calls of a test runner, and what runners report."""

import subprocess
import sys
from pathlib import Path

import pytest

from patchwright.resolver.proof.printed_reports import (
    read_printed_report,
    read_script_report,
)
from patchwright.resolver.proof.repository_scripts import (
    find_runners,
    recipe_of,
    recipe_paths,
    runs_changed_file,
)
from patchwright.resolver.proof.runner_calls import read_call, with_python_path
from patchwright.resolver.proof.runner_reports import read_junit, read_records
from patchwright.resolver.proof.runners import RunnerKind, says_failed


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest", RunnerKind.PYTEST),
        ("pytest -q tests/test_a.py::test_b -k 'a and not b'", RunnerKind.PYTEST),
        (".venv/bin/pytest -x -p no:cacheprovider", RunnerKind.PYTEST),
        ("python3.12 -X dev -m pytest tests", RunnerKind.PYTEST),
        ("cd backend && uv run pytest", RunnerKind.PYTEST),
        ("pip install -e . && python -m pytest", RunnerKind.PYTEST),
        ("DEBUG=1 PYTHONPATH=src timeout 60 pytest", RunnerKind.PYTEST),
        ("coverage run -m pytest tests", RunnerKind.PYTEST),
        ("python3 -m unittest test_a", RunnerKind.UNITTEST),
        ("python manage.py test shop", RunnerKind.UNITTEST),
        ("python tests/test_a.py", RunnerKind.UNITTEST),
        ("node --test test/", RunnerKind.NODE),
        ("npx jest cart.test.js", RunnerKind.JEST),
        ("pnpm exec vitest run", RunnerKind.VITEST),
        ("./node_modules/.bin/mocha", RunnerKind.MOCHA),
        ("go test ./...", RunnerKind.GO),
        ("cargo +nightly test --locked", RunnerKind.CARGO),
        ("bundle exec rspec spec/a_spec.rb:3", RunnerKind.RSPEC),
        ("bin/rails test test/a_test.rb", RunnerKind.MINITEST),
        ("vendor/bin/phpunit --filter A", RunnerKind.PHPUNIT),
        ("dotnet test", RunnerKind.DOTNET),
        ("./mvnw -q test", RunnerKind.MAVEN),
        ("mvn -q clean test", RunnerKind.MAVEN),
        ("./gradlew clean cleanTest test", RunnerKind.GRADLE),
        ("cmake -B b && cmake --build b && ctest --test-dir b", RunnerKind.CTEST),
        ("prove -l t", RunnerKind.PROVE),
        ("npm ci && npm test", RunnerKind.SCRIPT),
        ("npm run test:unit", RunnerKind.SCRIPT),
        ("make test", RunnerKind.SCRIPT),
    ],
)
def test_h1_a_runner_is_known_by_its_call(command: str, runner: RunnerKind) -> None:
    call = read_call(command)
    assert call is not None
    assert call.runner is runner


@pytest.mark.parametrize(
    "command",
    [
        *("", "true", "grep -q FIXED a.py", "python3 verify/check.py", "./check.sh"),
        *("pytest | sh", "pytest || rm x", "pytest; grep -q x y", "pytest & wait"),
        *("pytest < in.txt", "! pytest", "(pytest)", "pytest $(cat args)", "pytest &&"),
        *("pytest `cat args`", "pytest\nrm x", "sh -c pytest", "bash -c 'pytest'"),
        *(
            "pytest | tail; grep -q x y",
            "tail x | pytest",
            "pytest $'a'",
            'pytest "$X"',
        ),
        *("eval pytest", "exec pytest", "grep -q x a.py && pytest", "./pytest.sh"),
        *("tools/pytest", "/tmp/pytest", "PATH=. pytest", "LD_PRELOAD=./a.so pytest"),
        *("PYTEST_ADDOPTS=--co pytest", "export PATH=. && pytest", "pytest 'open"),
        *("pytest -p forge", "pytest -c x.ini", "pytest -o addopts=", "pytest --co"),
        *("pytest --junitxml=a.xml", "python -c 'import pytest'", "python -m forge"),
        *("NODE_OPTIONS=--require=./a.js jest", "jest --config a.js", "node a.js"),
        *("go vet", "cargo build", "npm install", "pytest # a\nrm x", "pytest $X"),
        *("pytest -qpforge", "pytest -vvp forge", "pytest -xcother.ini", "pytest @a"),
        *("uv run x.py && pytest", "npm exec x && pytest", "yarn node x && pytest"),
        *("npm run x && pytest", "poetry run x && pytest", "cmake -P x && ctest"),
        *("bundle exec x && rspec", "python3 -m pip2 && pytest", "npmx ci && jest"),
        *("npm_config_script_shell=./x npm test", "SPEC_OPTS=-r./x rspec"),
        *("CARGO_TARGET_X_RUNNER=./x cargo test", "NODE_PATH=x jest"),
        *("HARNESS_PERL=./x prove", "TESTOPTS=-r./x rake test", "UV_PYTHON=x pytest"),
        *("JDK_JAVA_OPTIONS=-x mvn test", "PHP_INI_SCAN_DIR=x phpunit"),
    ],
)
def test_h1_anything_else_is_no_call_of_a_runner(command: str) -> None:
    assert read_call(command) is None


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("pytest tests/test_a.py", ()),
        ("cd sub && ./pytest", ("./pytest",)),
        ("bin/rails test", ("bin/rails",)),
        ("python3 shop/manage.py test", ("shop/manage.py",)),
        ("php vendor/bin/phpunit", ("vendor/bin/phpunit",)),
        ("python3 tests/test_a.py", ()),
    ],
)
def test_h1_the_programs_are_known_that_a_change_could_replace(
    command: str, programs: tuple[str, ...]
) -> None:
    call = read_call(command)
    assert call is not None
    assert call.programs == programs


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("pytest -q 2>&1 | tail -5", "pytest -q"),
        ("pytest -q 'a b' | grep -E \"passed|$X\" | head", "pytest -q 'a b'"),
        ("pytest |& tee out.txt; echo ${PIPESTATUS[0]}", "pytest"),
        ("pytest > out.txt 2>&1; tail -20 out.txt", "pytest"),
        ("pytest || true", "pytest"),
        ("pytest; exit 0", "pytest"),
        ("cd a\npytest\necho $?\n", "cd a; pytest"),
        ("pytest  # all of them", "pytest"),
        ("set -eo pipefail; cd a && pytest | cat", "set -eo pipefail; cd a && pytest"),
        ("pip install -e . 2>&1 | tail -1 && pytest", "pip install -e .; pytest"),
        ("echo tests && python --version && pytest", "pytest"),
        ("go test -run '^TestA$' ./... | tail", "go test -run '^TestA$' ./..."),
    ],
)
def test_a_runner_is_run_without_what_stands_around_it(command: str, run: str) -> None:
    call = read_call(command)
    assert call is not None
    assert call.command == run


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("pytest", ""),
        ("cd a/b && cd ../c && pytest", "a/c"),
        ("cd . && pytest", ""),
        ("cd /tmp && pytest", None),
        ("cd .. && pytest", None),
        ("cd - && pytest", None),
    ],
)
def test_the_folder_is_known_in_which_a_runner_starts(
    command: str, folder: str | None
) -> None:
    call = read_call(command)
    assert call is not None
    assert call.folder == folder


PACKAGE = """{"scripts": {
  "test": "npm run all && jest", "all": "node ./tools/run.js", "start": "node app.js"
}}"""


@pytest.mark.parametrize(
    ("command", "files", "runners"),
    [
        ("npm test", {"package.json": PACKAGE}, (RunnerKind.JEST,)),
        ("npm t", {"package.json": PACKAGE}, (RunnerKind.JEST,)),
        ("npm run all", {"package.json": PACKAGE}, ()),
        ("npm start", {"package.json": PACKAGE}, ()),
        ("make test", {"Makefile": "test:\n\t$(GO) test ./...\n"}, (RunnerKind.GO,)),
        ("make test", {"Makefile": "test:\n\tnode --test\n"}, (RunnerKind.NODE,)),
        ("make test", {"Makefile": "test:\n\tnode run.js\n"}, ()),
        ("just test", {"justfile": "test:\n  cargo test\n"}, (RunnerKind.CARGO,)),
        ("npm test", {"package.json": "["}, ()),
    ],
)
def test_h1_the_runners_of_a_script_are_those_that_it_names(
    command: str, files: dict[str, str], runners: tuple[RunnerKind, ...]
) -> None:
    assert find_runners(recipe_of(command, files)) == runners


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("tools/run.js", True),
        ("app.js", False),  # another script's
        ("src/cart.js", False),
        ("tests/tools/run.js", False),  # the same in both runs
    ],
)
def test_h1_a_changed_file_that_a_script_runs_is_noticed(
    path: str, *, named: bool
) -> None:
    recipe = recipe_of("npm test", {"package.json": PACKAGE})
    assert runs_changed_file(recipe, [path]) is named


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("\tpython3 -m tools.check", "tools/check.py"),
        ("\tpython3 tools", "tools/__main__.py"),
        ("\tcd tools && ./check", "tools/check"),
        ("\tnode tools/check", "tools/check.js"),
        ("\truby check.rb", "lib/check.rb"),
    ],
)
def test_h1_a_script_may_call_a_file_by_many_names(line: str, path: str) -> None:
    assert runs_changed_file(f"test:\n{line}\n", [path])


def test_h1_scripts_are_looked_for_where_the_command_goes() -> None:
    paths = recipe_paths("cd web && npm test")
    assert {"package.json", "web/package.json", "web/Makefile"} <= {*paths}
    assert "web/app/Makefile" in recipe_paths("make -C ./web/app test")


def test_a_command_adds_to_the_python_path() -> None:
    told = with_python_path("PYTHONPATH=src MYPYTHONPATH=x pytest")
    assert told == 'PYTHONPATH="$PYTHONPATH":src MYPYTHONPATH=x pytest'


@pytest.mark.parametrize(
    ("runner", "code", "failed"),
    [
        *(
            (RunnerKind.PYTEST, code, code == 1)
            for code in (None, 0, 1, 2, 3, 4, 5, 137)
        ),
        *((RunnerKind.CARGO, code, code == 101) for code in (0, 1, 101)),
        *((RunnerKind.SCRIPT, code, code == 2) for code in (0, 2, 126, 127, 137)),
    ],
)
def test_h1_an_exit_code_is_a_failure_only_where_the_runner_says_so(
    runner: RunnerKind, code: int | None, *, failed: bool
) -> None:
    assert says_failed(runner, code) is failed


PYTESTS = """
import pytest
def test_good(): pass
def test_bad(): assert 1 == 2
def test_raises(): {}["x"]
@pytest.mark.skip
def test_skipped(): pass
@pytest.fixture
def broken(): raise ValueError
def test_broken(broken): pass
@pytest.mark.xfail
def test_expected(): assert False
"""


def test_h1_the_report_of_pytest_tells_failures_from_what_could_not_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_it.py").write_text(PYTESTS)
    (tmp_path / "test_gone.py").write_text("import gone\n")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=it.xml"]
    options = [".", "-n", "0", "--continue-on-collection-errors", "--rootdir=."]
    subprocess.run([sys.executable, *words, *options], cwd=tmp_path, check=False)
    found = read_junit(RunnerKind.PYTEST, (tmp_path / "it.xml").read_bytes())
    assert found is not None
    results = found.results
    assert results.failing == ("test_it::test_bad", "test_it::test_raises")
    assert results.passing == ("test_it::test_good",)
    assert (results.passed, results.failed, results.skipped) == (1, 4, 2)
    assert found.unloaded == 1


def test_a_report_that_is_none_is_not_read() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "c">]><testsuites/>'
    assert read_junit(RunnerKind.PYTEST, bomb.encode()) is None
    assert read_junit(RunnerKind.PYTEST, bomb.encode("utf-16")) is None
    assert read_junit(RunnerKind.PYTEST, b"<testsuites>") is None
    assert read_records(RunnerKind.UNITTEST, b'["passed"') is None
    assert read_records(RunnerKind.UNITTEST, b'["hurray", "a"]') is None


def test_a_test_that_is_told_of_twice_has_its_worst_verdict() -> None:
    lines = b'["passed", "a"]\n["failed", "a"]\n["passed", "a"]\n["skipped", "b"]\n'
    found = read_records(RunnerKind.UNITTEST, lines)
    assert found is not None
    results = found.results
    assert (results.failing, results.passing, results.skipped) == (("a",), (), 1)


# The ends of real runs, but for the names.
PRINTED = {
    RunnerKind.NODE: "ok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP\n# pass 1\n# fail 1\n",
    RunnerKind.CARGO: (
        "test a::a ... ok\ntest a::b ... FAILED\ntest a::c ... ignored\n\n"
        "test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured\n"
    ),
    RunnerKind.GO: (
        '{"Action":"pass","Package":"p","Test":"A"}\n'
        '{"Action":"fail","Package":"p","Test":"B"}\n'
        '{"Action":"skip","Package":"p","Test":"C"}\n{"Action":"fail","Package":"p"}\n'
    ),
    RunnerKind.JEST: "Tests:       1 failed, 1 skipped, 1 passed, 3 total\nTime: 1 s\n",
    RunnerKind.VITEST: "      Tests  1 failed | 1 passed | 1 skipped (3)\n",
    RunnerKind.MOCHA: "\n  1 passing (5ms)\n  1 pending\n  1 failing\n\n  1) b:\n",
    RunnerKind.RSPEC: "3 examples, 1 failure, 1 pending\n",
    RunnerKind.MINITEST: "3 runs, 2 assertions, 1 failures, 0 errors, 1 skips\n",
    RunnerKind.PHPUNIT: "Tests: 3, Assertions: 2, Failures: 1, Skipped: 1.\n",
    RunnerKind.DOTNET: (
        "Failed!  - Failed:   1, Passed:   1, Skipped:   1, Total:   3\n"
    ),
    RunnerKind.MAVEN: "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1\n",
    RunnerKind.GRADLE: "3 tests completed, 1 failed, 1 skipped\n",
    RunnerKind.CTEST: (
        "1/3 Test #1: a .......   Passed    0.00 sec\n"
        "2/3 Test #2: b .......***Failed    0.00 sec\n"
        "3/3 Test #3: c .......***Skipped   0.00 sec\n\n"
        "67% tests passed, 1 tests failed out of 3\n"
    ),
}


@pytest.mark.parametrize("runner", PRINTED)
def test_what_a_runner_prints_at_its_end_is_counted(runner: RunnerKind) -> None:
    for found in (
        read_printed_report(runner, PRINTED[runner]),
        read_script_report([RunnerKind.PROVE, runner], PRINTED[runner]),
    ):
        assert found is not None
        results = found.results
        assert (results.passed, results.failed, results.skipped) == (1, 1, 1)


@pytest.mark.parametrize("runner", PRINTED)
def test_h1_a_script_is_believed_only_what_its_runners_print(
    runner: RunnerKind,
) -> None:
    others = [one for one in PRINTED if one is not runner]
    assert read_script_report(others, PRINTED[runner]) is None
    assert read_script_report([], PRINTED[runner]) is None
    assert read_printed_report(RunnerKind.SCRIPT, PRINTED[runner]) is None


@pytest.mark.parametrize("runner", PRINTED)
def test_an_output_that_breaks_off_is_no_report(runner: RunnerKind) -> None:
    assert read_printed_report(runner, "Segmentation fault\n") is None
    assert read_printed_report(runner, "") is None


@pytest.mark.parametrize(
    "line", ['{"Action": ' + "[" * 100_000, '{"Action": [], "Test": "a"}', "{}"]
)
def test_a_line_that_is_no_event_of_go_is_passed_over(line: str) -> None:
    passed = '{"Action": "pass", "Package": "a", "Test": "TestA"}'
    found = read_printed_report(RunnerKind.GO, f"{line}\n{passed}\n")
    assert found is not None
    assert found.results.passing == ("a.TestA",)


def test_scripts_nested_too_deep_to_read_are_searched_as_they_are() -> None:
    deep = '{"scripts": ' + "[" * 100_000 + '"jest"'
    assert find_runners(recipe_of("npm test", {"package.json": deep})) == (
        RunnerKind.JEST,
    )
