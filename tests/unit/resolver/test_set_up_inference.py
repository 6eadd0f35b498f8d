"""The set-up that is inferred from the files of a repository."""

import pytest

from patchwright.core.settings.limits import SandboxSettings
from patchwright.resolver.set_up.inference import infer_steps, is_of_interest
from patchwright.resolver.set_up.plan import plan_set_up

PROJECT = """
[build-system]
requires = ["setuptools"]
[project]
name = "cart"
[project.optional-dependencies]
test = ["pytest"]
docs = ["sphinx"]
"""
VENV = "python3 -m venv --system-site-packages .venv"
PIP = f"{VENV} && .venv/bin/python -m pip install --quiet"
NPM = "npm ci --no-audit --no-fund"


def shown(files: dict[str, str]) -> list[tuple[str, str]]:
    return [(step.source, step.shown) for step in infer_steps(files)]


@pytest.mark.parametrize(
    ("files", "source", "command"),
    [
        (["uv.lock", "pyproject.toml"], "uv.lock", "uv sync --frozen"),
        (["poetry.lock"], "poetry.lock", "poetry install --no-interaction"),
        (["pdm.lock"], "pdm.lock", "pdm sync --dev"),
        (["Pipfile.lock"], "Pipfile.lock", "pipenv sync --dev"),
        (["package.json", "package-lock.json"], "package-lock.json", NPM),
        (
            ["package.json", "pnpm-lock.yaml"],
            "pnpm-lock.yaml",
            "pnpm install --frozen-lockfile",
        ),
        (["package.json", "yarn.lock"], "yarn.lock", "yarn install --frozen-lockfile"),
        (
            ["package.json", "yarn.lock", ".yarnrc.yml"],
            "yarn.lock",
            "yarn install --immutable",
        ),
        (["go.mod"], "go.mod", "go mod download"),
        (["Cargo.lock"], "Cargo.lock", "cargo fetch --locked"),
        (["Gemfile.lock"], "Gemfile.lock", "bundle install"),
        (
            ["composer.lock"],
            "composer.lock",
            "composer install --no-interaction --no-progress",
        ),
    ],
)
def test_a_lock_file_says_how_it_is_installed(
    files: list[str], source: str, command: str
) -> None:
    assert shown(dict.fromkeys(files, "")) == [(source, command)]


@pytest.mark.parametrize(
    ("files", "arguments"),
    [
        ({"pyproject.toml": PROJECT}, "-e '.[test]'"),
        ({"setup.py": ""}, "-e ."),
        ({"setup.py": "", "conftest.py": ""}, "-e . pytest"),
        (
            {"requirements.txt": "flask", "requirements-dev.txt": "pytest==8"},
            "-r requirements.txt -r requirements-dev.txt",
        ),
        (
            {"requirements.txt": "flask", "tests/conftest.py": ""},
            "-r requirements.txt pytest",
        ),
        ({"requirements/test.txt": "pytest"}, "-r requirements/test.txt"),
        (
            {
                "pyproject.toml": '[project]\nname = "a"\n[dependency-groups]\n'
                'dev = ["ruff", {include-group = "test"}]\ntest = ["pytest>=8"]\n'
            },
            "-e . 'pytest>=8' ruff",
        ),
        ({"pyproject.toml": '[project]\nname = "a"\n[tool.pytest.x]\n'}, "-e . pytest"),
    ],
)
def test_pip_installs_the_project_and_what_its_tests_need(
    files: dict[str, str], arguments: str
) -> None:
    assert [command for _, command in shown(files)] == [f"{PIP} {arguments}"]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": "[tool.ruff]\n"},
        {"pyproject.toml": "is no TOML ["},
        {"package-lock.json": "{}"},
        {"docs/requirements.txt": "sphinx"},
        {"tests/requirements.txt": "pytest"},
        {"a b/package.json": "", "a b/package-lock.json": ""},
        {"$(x)/package.json": "", "$(x)/package-lock.json": ""},
    ],
)
def test_other_files_ask_for_nothing(files: dict[str, str]) -> None:
    assert shown(files) == []


def test_folders_count_only_where_the_root_has_nothing_and_only_a_few() -> None:
    web = {f"{name}/{file}": "" for name in "abcd" for file in NODE_FILES}
    assert shown(web) == [
        (f"{name}/package-lock.json", f"cd {name} && {NPM}") for name in "abc"
    ]
    root = dict.fromkeys(NODE_FILES, "")
    assert shown({**web, **root}) == [("package-lock.json", NPM)]
    mixed = {**root, "api/go.mod": ""}
    assert [source for source, _ in shown(mixed)] == ["package-lock.json", "api/go.mod"]


NODE_FILES = ("package.json", "package-lock.json")


def test_a_missing_program_gives_way_to_pip() -> None:
    [step] = infer_steps({"uv.lock": "", "pyproject.toml": PROJECT})
    *variables, install = step.commands
    assert variables == [
        'export PATH="$PWD/.venv/bin:$PATH" && echo "PATH=$PATH" >> "$PATCHWRIGHT_ENV"'
    ]
    assert install == (
        "if command -v uv >/dev/null; then uv sync --frozen\n"
        "else echo 'uv is not in the sandbox: another way is tried'; "
        f"{PIP} -e '.[test]'; fi"
    )


def host(*labels: str) -> str:
    return ".".join(labels)


def hosts(files: dict[str, str]) -> list[str]:
    [step] = infer_steps(files)
    return list(step.hosts)


def test_hosts_come_from_the_lock_file_or_are_the_usual_ones() -> None:
    package = {"package.json": "{}"}
    usual = hosts({**package, "package-lock.json": "{}"})
    assert usual == [host("registry", "npmjs", "org")]
    lock = '"resolved": "https://npm.example:8443/a/-/a-1.0.0.tgz",'
    assert hosts({**package, "package-lock.json": lock}) == ["npm.example:8443"]
    own = {"package-lock.json": "{}", ".npmrc": "registry=https://own.example/npm\n"}
    assert hosts({**package, **own}) == ["own.example"]
    index = "--index-url https://index.example/simple\n"
    more = "--extra-index-url https://more.example/simple\nflask\n"
    assert hosts({"requirements.txt": index + more}) == [
        "index.example",
        "more.example",
    ]
    assert hosts({"requirements.txt": "flask"}) == [
        host("pypi", "org"),
        host("files", "pythonhosted", "org"),
    ]
    assert hosts({"package.json": "", "yarn.lock": '  resolved "https://[::"\n'}) == (
        usual
    )


LOCKED = {
    "package.json": "{}",
    "package-lock.json": '"resolved": "https://npm.shop.example/a.tgz"',
}
TOLD = "`npm ci --no-audit --no-fund` (from `package-lock.json`)"


def test_a_closed_network_is_not_tried_and_the_note_says_what_to_open() -> None:
    plan = plan_set_up(infer_steps(LOCKED), SandboxSettings(), ".patchwright.toml")
    assert plan.commands == ()
    assert plan.notes == (
        (
            f"The sandbox was not set up with {TOLD}: the sandbox has no network, and "
            "needs `npm.shop.example`. Whoever runs Patchwright can allow that: "
            "`sandbox.network` and `sandbox.allow_domains`."
        ),
    )


@pytest.mark.parametrize("listed", ["npm.shop.example", "*.shop.example"])
def test_a_listed_registry_is_used_and_the_note_comes_first(listed: str) -> None:
    sandbox = SandboxSettings(network="allowlist", allow_domains=(listed,))
    plan = plan_set_up(infer_steps(LOCKED), sandbox, ".patchwright.toml")
    assert plan.commands == (NPM,)
    assert plan.notes == (
        (
            f"Set-up of the sandbox, inferred from the repository: {TOLD}. Write "
            "`setup = [...]` into `.patchwright.toml` to change it."
        ),
    )


def test_a_registry_that_is_not_listed_is_named() -> None:
    sandbox = SandboxSettings(network="allowlist", allow_domains=("other.example",))
    plan = plan_set_up(infer_steps(LOCKED), sandbox, ".patchwright.toml")
    assert (plan.commands, plan.notes) == (
        (),
        (
            (
                f"The sandbox was not set up with {TOLD}: the sandbox must not reach "
                "`npm.shop.example`. Whoever runs Patchwright can allow that: "
                "`sandbox.allow_domains`."
            ),
        ),
    )


def test_an_open_network_opens_every_registry() -> None:
    sandbox = SandboxSettings(network="allow")
    assert plan_set_up(infer_steps(LOCKED), sandbox, "x").commands == (NPM,)


def test_only_files_near_the_root_are_read() -> None:
    near = ("uv.lock", "web/package.json", "requirements/dev.txt", "tests/conftest.py")
    assert all(map(is_of_interest, near))
    far = ("a/b/package.json", "src/main.py", "README.md", "web/src/uv.lock")
    assert not any(map(is_of_interest, far))
