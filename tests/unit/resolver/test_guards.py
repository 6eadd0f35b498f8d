"""What a change may not touch, may not hold, and must not do to its tests unnoticed."""

import pytest

from patchwright.integrations.git.changes import ChangedPath, ChangeKind
from patchwright.resolver.guards.changed_files import (
    FileVersions,
    find_protected,
    matches,
)
from patchwright.resolver.guards.leaks import Leak, find_secrets
from patchwright.resolver.guards.tampering import changed_tests, find_tampering

PLAIN = 0o100644
# Put together here, so that no scanner finds them in this file.
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
OTHER = "ghp_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3OCJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
KEY = "\n".join(
    (f"-----BEGIN {'PRIVATE'} KEY-----", "MIIEvQIBADANBgkqhkiG", "-----END KEY-----")
)


def version(
    path: str, before: str | None, after: str | None, old_path: str = ""
) -> FileVersions:
    kind = ChangeKind.RENAMED if old_path else ChangeKind.MODIFIED
    if before is None:
        kind = ChangeKind.ADDED
    if after is None:
        kind = ChangeKind.DELETED
    return FileVersions(
        ChangedPath(path, kind, PLAIN, 1, old_path, PLAIN), before, after
    )


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        (".github/workflows/ci.yml", ".github/**"),
        (".github", ".github/**"),
        (".GitHub/workflows/ci.yml", ".github/**"),
        ("CODEOWNERS", "CODEOWNERS"),
        (".github/CODEOWNERS", "CODEOWNERS"),
        ("docs/CODEOWNERS", "CODEOWNERS"),
        (".patchwright.toml", ".patchwright*"),
        (".patchwright/one", ".patchwright*"),
        ("infra/eu/main.tf", "**/*.tf"),
        ("main.tf", "**/*.tf"),
        ("main.tf", "*.tf"),
        ("a/b/c/d.sql", "a/**/d.sql"),
        ("a/d.sql", "a/**/d.sql"),
        ("deploy/x/y", "/deploy"),
        ("deploy/x", "deploy/"),
        ("v1.txt", "v?.txt"),
        ("a\nb/secret", "a*/secret"),
    ],
)
def test_a_pattern_covers_a_path(path: str, pattern: str) -> None:
    assert matches(path, pattern)


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("sub/.github/workflows/ci.yml", ".github/**"),
        ("CODEOWNERS.md", "CODEOWNERS"),
        ("x/deploy/y", "/deploy"),
        ("redeploy/y", "deploy/"),
        ("a/b.tfvars", "*.tf"),
        ("a/b/d.sql", "a/*.sql"),
        ("v12.txt", "v?.txt"),
        ("axb", "a.b"),
    ],
)
def test_a_pattern_covers_no_more(path: str, pattern: str) -> None:
    assert not matches(path, pattern)


def test_a_protected_file_that_is_moved_away_is_touched() -> None:
    moved = version("old.yml", "x", "x", old_path=".github/workflows/ci.yml").change
    other = version("src/a.py", "x", "y").change
    [found] = find_protected([other, moved], ["", " ", "/", "docs/**", ".github/**"])
    assert (found.rule, found.changes) == (".github/**", (moved,))


def test_a_secret_is_found_by_file_and_line_and_never_shown() -> None:
    leaks = find_secrets([version("a.py", None, f"x = 1\ntoken = '{TOKEN}'\n")])
    assert leaks == (Leak("a.py", 2),)
    assert TOKEN not in repr(leaks)


def test_a_secret_in_utf16_is_found() -> None:
    text = f"token = '{TOKEN}'\n".encode("utf-16").decode("latin-1")
    assert find_secrets([version("a.ini", None, text)]) == (Leak("a.ini", 1),)


def test_what_the_service_knows_by_value_is_found_in_tests_too() -> None:
    def find_known(text: str) -> list[tuple[int, int]]:
        at = text.find("hunter2")
        return [(at, at + 7)] if at >= 0 else []

    one = version("tests/test_a.py", "", "\n\npassword = 'hunter2'\n")
    assert find_secrets([one]) == ()
    assert find_secrets([one], lambda t: iter(find_known(t))) == (
        Leak("tests/test_a.py", 3),
    )


def test_what_was_there_before_is_no_new_secret() -> None:
    edited = version("a.py", f"t = '{TOKEN}'\n", f"# a note\nt = '{TOKEN}'\n")
    moved = version("b.py", None, f"t = '{TOKEN}'\n")
    assert find_secrets([edited, moved]) == ()
    more = version("c.py", None, f"t = '{OTHER}'\n")
    assert find_secrets([edited, moved, more]) == (Leak("c.py", 1),)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/a.md", "AKIAIOSFODNN7EXAMPLE"),
        ("a.py", "ghp_" + "x" * 36),
        ("a.py", "sk-" + "your-key-goes-here-1234"),
        ("a.py", "https://user:{password}@example.test/"),
        ("a.py", "Authorization: Bearer {token}"),
        ("tests/test_a.py", JWT),
        ("tests/data/key.pem", KEY),
    ],
)
def test_what_only_looks_like_a_secret_is_let_through(path: str, text: str) -> None:
    assert find_secrets([version(path, "", text)]) == ()


@pytest.mark.parametrize("text", [JWT, KEY])
def test_outside_of_tests_it_counts(text: str) -> None:
    assert find_secrets([version("src/a.py", "", text)]) == (Leak("src/a.py", 1),)


@pytest.mark.parametrize(
    ("path", "line", "mark"),
    [
        ("tests/test_a.py", "@pytest.mark.skip(reason='flaky')", "@pytest.mark.skip"),
        ("tests/test_a.py", "    @pytest.mark.xfail", "@pytest.mark.xfail"),
        ("tests/test_a.py", "@unittest.skipIf(True, '')", "@unittest.skipIf"),
        ("tests/test_a.py", "        self.skipTest('later')", "self.skipTest("),
        ("web/cart.test.ts", "  it.skip('adds', () => {", "it.skip"),
        ("web/cart.test.ts", "  xit('adds', () => {", "xit("),
        ("web/cart.test.ts", "describe.only('cart', () => {", "describe.only"),
        ("cart_test.go", '\tt.Skip("later")', "t.Skip("),
        ("src/CartTest.java", '    @Disabled("later")', "@Disabled"),
        ("src/CartTest.java", "@Ignore", "@Ignore"),
        ("spec/cart_spec.rb", "  xit 'adds' do", "xit"),
        ("spec/cart_spec.rb", "    pending 'later'", "pending"),
        ("src/lib.rs", "    #[ignore]", "#[ignore]"),
    ],
)
def test_r7_a_test_that_is_left_out_now_is_told(
    path: str, line: str, mark: str
) -> None:
    before = "one\ntwo\n"
    said = find_tampering([version(path, before, f"one\n{line}\ntwo\n")])
    assert said == (f"Tests are left out in `{path}` that would run: `{mark}`.",)
    assert find_tampering([version(path, f"{line}\none\n", f"one\n{line}\n")]) == ()


def test_r7_code_that_skips_is_no_test_that_is_skipped() -> None:
    assert (
        find_tampering([version("src/reader.js", "", "stream.skip(3); it.skip()")])
        == ()
    )


BEFORE = """\
def test_one():
    assert one() == 1
    assert two() == 2


def test_two():
    assert three() == 3
"""


def test_r7_assertions_that_go_are_counted() -> None:
    after = BEFORE.replace("    assert two() == 2\n", "    two()\n")
    assert find_tampering([version("tests/test_a.py", BEFORE, after)]) == (
        "`tests/test_a.py` has 1 assertion fewer than before.",
    )


def test_r7_tests_that_go_are_counted_with_their_assertions() -> None:
    after = BEFORE.partition("\n\n\n")[0]
    assert find_tampering([version("tests/test_a.py", BEFORE, after)]) == (
        "`tests/test_a.py` has 1 test and 1 assertion fewer than before.",
    )


def test_r7_an_assertion_that_replaces_another_is_fine() -> None:
    after = BEFORE.replace("two() == 2", "two() == 3")
    assert find_tampering([version("tests/test_a.py", BEFORE, after)]) == ()
    more = f"{BEFORE}\n\ndef test_three():\n    assert four() == 4\n"
    assert find_tampering([version("tests/test_a.py", BEFORE, more)]) == ()


def test_r7_a_deleted_test_file_is_told() -> None:
    gone = version("tests/test_a.py", BEFORE, None)
    code = version("src/a.py", BEFORE, None)
    assert find_tampering([gone, code]) == (
        "A test file was deleted: `tests/test_a.py`.",
    )


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "azure-pipelines.yml",
        "build/Jenkinsfile",
    ],
)
def test_r7_a_change_of_ci_is_told(path: str) -> None:
    assert find_tampering([version(path, "a", "b")]) == (
        f"The configuration of CI was changed: `{path}`.",
    )


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -x\n"),
        ("web/jest.config.ts", "a", "b"),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = '-k not_sum'\n"),
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = 95\n", ""),
        ("pyproject.toml", "[tool.ruff]\n", "[tool.ruff\n"),
        ("setup.cfg", "[tool:pytest]\na = 1\n", "[tool:pytest]\na = 2\n"),
        ("package.json", '{"jest": {}}', '{"jest": {"bail": true}}'),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {}}'),
        (
            "package.json",
            '{"scripts": {"test": "npm run all", "all": "jest"}}',
            '{"scripts": {"test": "npm run all", "all": "true"}}',
        ),
        ("package.json", "{}", '{"devDependencies": {"jest": "file:./own"}}'),
        ("package.json", "{}", '{"workspaces": ["jest"]}'),
        ("pyproject.toml", "", "[project.entry-points.pytest11]\nown = 'own'\n"),
        ("pyproject.toml", "", "[build-system]\nbackend-path = ['.']\n"),
        ("setup.cfg", "", "[options.entry_points]\npytest11 =\n  own = own\n"),
        ("CMakeLists.txt", "add_test(a a)\n", "add_test(NAME a COMMAND true)\n"),
        ("sub/CMakeLists.txt", "", "set_tests_properties(a PROPERTIES WILL_FAIL 1)\n"),
        ("Cargo.toml", "", "[[test]]\nname = 'a'\nharness = false\n"),
        ("pom.xml", "<a/>\n", "<testFailureIgnore>true</testFailureIgnore>\n"),
        ("app/build.gradle", "", "test { ignoreFailures = true }\n"),
        *(
            (path, "a", "b")
            for path in (
                *("pytest.toml", ".npmrc", "web/vite.config.ts", "nose2.cfg"),
                *("core/.cargo/config.toml", "lib/tasks/test.rake", "spec_helper.rb"),
                *(
                    "lib/pytest/__main__.py",
                    "lib/unittest/__init__.py",
                    "a.runsettings",
                ),
                *("node_modules/jest/index.js", ".mvn/maven.config", ".babelrc.json"),
            )
        ),
    ],
)
def test_r7_a_change_of_the_tests_configuration_is_told(
    path: str, before: str, after: str
) -> None:
    assert find_tampering([version(path, before, after)]) == (
        f"The configuration of the tests was changed: `{path}`.",
    )


@pytest.mark.parametrize("path", ["package.json", "pyproject.toml", "Cargo.toml"])
def test_configuration_nested_too_deep_to_read_counts_as_changed(path: str) -> None:
    deep = "[" * 100_000
    after = deep if path == "package.json" else f"a = {deep}"
    assert find_tampering([version(path, "", after)])


@pytest.mark.parametrize(
    "after",
    ["tool = 1\n", "project = []\n", "build-system = 'a'\n", "[tool]\npoetry = 1\n"],
)
def test_configuration_of_another_shape_is_read_as_far_as_it_goes(after: str) -> None:
    assert not find_tampering([version("pyproject.toml", "", after)])


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'b'\n"),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n"),
        ("package.json", '{"version": "1"}', '{"version": "2"}'),
        ("docs/workflows/ci.yml", "a", "b"),
        ("package.json", "{}", '{"dependencies": {"left-pad": "file:./own"}}'),
        ("package.json", "{}", '{"scripts": {"start": "node app.js"}}'),
        ("CMakeLists.txt", "", "add_library(cart cart.c)\n"),
        ("Cargo.toml", "[package]\nversion = '1'\n", "[package]\nversion = '2'\n"),
        ("pom.xml", "<version>1</version>\n", "<version>2</version>\n"),
    ],
)
def test_r7_other_parts_of_such_files_may_change(
    path: str, before: str, after: str
) -> None:
    assert find_tampering([version(path, before, after)]) == ()


def test_r7_the_tests_of_the_base_are_known_by_their_old_names() -> None:
    changes = [
        version("tests/test_new.py", None, "x").change,
        version("tests/test_b.py", "x", "y", old_path="tests/test_a.py").change,
        version("tests/test_c.py", "x", None).change,
        version("src/d.py", "x", "y").change,
    ]
    assert changed_tests(changes) == ("tests/test_a.py", "tests/test_c.py")
