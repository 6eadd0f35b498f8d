"""What a change could make its tests say is known by its looks."""

from time import process_time

import pytest

from patchwright.resolver.guards.tampering import (
    find_tampering,
    rules_out_proof,
    tampers_with_runner,
)
from tests.unit.resolver.test_guards import version


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("shop.py", "found = sys.modules.get('unit' + 'test')"),
        ("shop.py", "place = [v for k, v in os.environ.items() if '_REPORT' in k]"),
        ("shop.py", "def pytest_runtest_makereport(item, call):"),
        ("tests/plug.py", "pytest_plugins = ['own']"),
        ("tests/plug.py", "    unittest.TestCase.assertEqual = lambda *a: None"),
        ("shop.py", "os.execvp('true', ['true'])"),
        ("setup.py", "    entry_points={'pytest11': ['own = own']},"),
        ("shop.js", "process.on('exit', () => { process.exitCode = 0 })"),
        ("shop.js", "process['exit'](0)"),
        ("shop.ts", "global.expect = () => any"),
        ("shop.js", "require('assert').equal = () => {}"),
    ],
)
def test_h1_a_line_that_reaches_for_the_runner_is_known(path: str, line: str) -> None:
    assert tampers_with_runner(path, line)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("shop.py", "here = sys.modules[__name__]"),
        ("shop.py", "report = make_report(environment)"),
        ("tests/test_a.py", "import unittest"),
        ("shop.js", "process.exitCode = 1"),
        ("shop.js", "process.on('SIGTERM', stop)"),
        ("shop.js", "const assert = require('assert')"),
        ("tests/a.test.js", "import { test } from 'vitest'"),
    ],
)
def test_a_line_of_a_usual_program_reaches_for_nothing(path: str, line: str) -> None:
    assert not tampers_with_runner(path, line)


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        ("test_a.py", "cart.py", "assert 'FIXED' in open('cart.py').read()"),
        ("test_a.py", "src/cart.py", "p = HERE / 'cart.py'\nassert p.read_text()"),
        ("test_a.py", "cart.py", "text = Path(cart.__file__).read_bytes()"),
        ("test_a.py", "cart.py", "assert 'x' in inspect.getsource(cart.total)"),
        ("test_a.py", "cart.py", "assert cart.total.__code__.co_consts"),
        ("test_a.py", "cart.py", "subprocess.run(['git', 'grep', 'FIXED'])"),
        ("a.test.js", "cart.js", "const t = readFileSync('./cart.js', 'utf8')"),
        ("a.test.js", "cart.js", "ok(total.toString().includes('FIXED'))"),
        ("a_test.go", "cart.go", 'text, _ := os.ReadFile("cart.go")'),
        ("spec/a_spec.rb", "cart.rb", 'text = File.read("lib/cart.rb")'),
    ],
)
def test_h1_a_test_that_reads_code_instead_of_running_it_is_no_proof(
    path: str, code: str, text: str
) -> None:
    found = [version(code, "a\n", "a\n# FIXED\n"), version(path, None, text)]
    assert rules_out_proof(found)
    assert f"A test reads code as text instead of running it: `{path}`." in (
        find_tampering(found)
    )
    assert not rules_out_proof(found[1:])


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        ("test_a.py", "cart.py", "subprocess.run([sys.executable, 'cart.py'])"),
        ("test_a.py", "cart.py", "assert open('prices.json').read()"),
        ("a.test.js", "cart.js", "const { total } = require('./cart.js')"),
        ("test_a.py", "prices.json", "assert open('prices.json').read()"),
    ],
)
def test_a_test_may_run_code_and_read_what_is_none(
    path: str, code: str, text: str
) -> None:
    found = [version(code, "a\n", "b\n"), version(path, None, text)]
    assert not rules_out_proof(found)
    assert find_tampering(found) == ()


@pytest.mark.parametrize(
    "piece",
    [
        *("test", "environ ", "_REPORT ", "open(", "process.", "'assert'", "] ", "["),
        *("'a.py'", "git ", "global.", "<test", "a", " ", "=", '"', "ast.parse("),
    ],
)
def test_no_long_line_takes_long(piece: str) -> None:
    line = piece * (100_000 // len(piece))
    begun = process_time()
    for path in ("a.py", "a.js", "pom.xml", "CMakeLists.txt", "test_a.py"):
        found = [version(path, "a\n", line), version("b.py", "a\n", "b\n")]
        rules_out_proof(found)
    assert process_time() - begun < 2.0
