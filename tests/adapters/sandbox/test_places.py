"""On their own machine a person's packages and tools are in the sandbox, read-only."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from patchwright.sandbox.local.runtimes import BubblewrapRuntimes
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.person import SECRET, Person, package_json

WHERE = 'python3 -c "import shop; print(shop.WHERE)"'
LIBRARY = "PRICE = 450\n"


@pytest.fixture
def ann() -> Iterator[Person]:
    # The sandbox of root's runs is nobody's, who cannot look into pytest's folders.
    with tempfile.TemporaryDirectory(prefix="test-places-") as tmp:
        Path(tmp).chmod(0o711)
        person = Person.move_in(Path(tmp) / "ann")
        person.shop.write("src/shop/__init__.py", b"WHERE = 'the clone'\n")
        person.shop.commit()
        person.write("shop/src/shop/__init__.py", "WHERE = 'the checkout'\n")
        yield person


def test_packages_of_the_virtual_environment_can_be_imported(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    packages = ann.environment()
    (packages / "prices.py").write_text(LIBRARY)
    with ann.sandbox(bubblewrap_runtimes) as (box, _):
        used = box.sh(
            'python3 -c "import prices, sys; print(prices.PRICE, sys.prefix)"'
        )
        assert used.output.split() == ["450", str(ann.home / "shop/.venv")]
        assert box.sh(".venv/bin/python -c 'import prices'").exit_code == 0
        assert box.sh("echo $VIRTUAL_ENV").output.strip() == f"{ann.home}/shop/.venv"


@pytest.mark.parametrize("how", ["path", "finder"])
def test_what_is_installed_from_the_checkout_is_the_code_of_the_clone(
    how: str, ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    packages, source = ann.environment(), ann.shop.path / "src"
    if how == "path":
        (packages / "shop.pth").write_text(f"{source}\n")
    else:
        (packages / "__editable___shop_finder.py").write_text(
            f"import sys; sys.path.append({str(source)!r})\n"
        )
        (packages / "__editable__.shop.pth").write_text(
            "import __editable___shop_finder\n"
        )
    with ann.sandbox(bubblewrap_runtimes) as (box, _):
        assert box.sh(WHERE).output.strip() == "the clone"
        box.sh("echo \"WHERE = 'the fix'\" > src/shop/__init__.py")
        assert box.sh(WHERE).output.strip() == "the fix"
    assert "the checkout" in (source / "shop/__init__.py").read_text()


@pytest.mark.parametrize("how", ["copied", "path", "finder"])
def test_a_copy_of_the_package_does_not_hide_the_clone(
    how: str, ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    """It was installed without `-e`, or from another checkout of the repository."""
    packages, other = ann.environment(), ann.home / "other" / "src"
    ann.write("other/src/shop/__init__.py", "WHERE = 'another checkout'\n")
    if how == "copied":
        (packages / "shop").mkdir()
        (packages / "shop/__init__.py").write_text("WHERE = 'a copy'\n")
    elif how == "path":
        (packages / "shop.pth").write_text(f"{other}\n")
    else:
        mapping = f"MAPPING = {{'shop': '{other}/shop'}}\n"
        (packages / "__editable___shop_1_0_finder.py").write_text(mapping)
    with ann.sandbox(bubblewrap_runtimes) as (box, _):
        assert box.sh(WHERE).output.strip() == "the clone"


def test_modules_of_node_are_there_with_those_of_workspaces(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    ann.shop.write("package.json", package_json(workspaces=["parts/*"]).encode())
    ann.shop.write("parts/cart/package.json", b"{}")
    ann.shop.write("parts/cart/index.js", b"module.exports = 'the clone'")
    ann.shop.commit()
    ann.write("shop/parts/cart/index.js", "module.exports = 'the checkout'")
    ann.write("shop/node_modules/left/index.js", "module.exports = 'left'")
    ann.write("shop/parts/cart/node_modules/right/index.js", "module.exports = 1")
    (ann.shop.path / "node_modules/cart").symlink_to("../parts/cart")
    with ann.sandbox(bubblewrap_runtimes) as (box, workspace):
        say = "node -p \"require('left') + ' ' + require('cart')\""
        assert box.sh(say).output.strip() == "left the clone"
        below = box.sh("cd parts/cart; node -p \"require('right')\"")
        assert below.output.strip() == "1"
        assert box.sh("git status --short").output.strip() == ""
        assert workspace.export(ann.shop.head, is_last=True).bundle is None


def test_a_change_is_exported_without_what_is_shown(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    ann.environment()
    ann.write("shop/node_modules/left/index.js")
    with ann.sandbox(bubblewrap_runtimes) as (box, workspace):
        box.sh("echo 1 > new.py; git add --all; git commit --quiet -m x")
        exported = workspace.export(ann.shop.head, is_last=True)
        named = box.sh("git show --name-only --format= HEAD").output.split()
    assert exported.bundle is not None
    assert exported.left_out == ()
    assert named == ["new.py"]


def test_nothing_can_be_written_to_what_is_shown(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    packages = ann.environment()
    ann.write("shop/node_modules/left/index.js", "module.exports = 1")
    with ann.sandbox(bubblewrap_runtimes) as (box, _):
        for place in (".venv", "node_modules", str(packages)):
            told = box.sh(f"touch {place}/mine")
            assert (told.exit_code, "Read-only" in told.output) == (1, True), told
        box.sh("rm -rf .venv node_modules; git clean -fdxq")
    assert (ann.shop.path / "node_modules/left/index.js").exists()
    assert (ann.shop.path / ".venv/bin/python3").exists()


PRIVATE = (
    *(".ssh/id_ed25519", ".netrc", ".npmrc", ".pypirc", ".config/gh/hosts.yml"),
    *(".cargo/credentials.toml", ".cargo/config.toml", ".m2/settings.xml"),
    *("notes.txt", "shop/.env", "shop/untracked.txt"),
    *("shop/.venv/pip.conf", "shop/node_modules/.npmrc", ".rustup/.netrc"),
)


def test_secrets_and_private_files_are_not_seen(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    ann.environment()
    ann.write("shop/node_modules/left/index.js")
    ann.program(".cargo/bin/cargo", "cargo")
    ann.write(".rustup/toolchains/stable-x/bin/rustc")
    ann.write(".rustup/settings.toml", 'default_toolchain = "stable-x"')
    for path in PRIVATE:
        ann.write(path, SECRET)
    with ann.sandbox(bubblewrap_runtimes) as (box, _):
        assert box.sh("cargo").output.strip() == "cargo"
        shown = box.sh("cat " + " ".join(f"{ann.home}/{path}" for path in PRIVATE))
        assert SECRET not in shown.output
        assert _finds(box, ann) == ""


def _finds(box: Box, ann: Person) -> str:
    places = f"{ann.home} /workspace/repo"
    return box.sh(f"grep -rl {SECRET} {places} 2>/dev/null").output.strip()


@pytest.mark.parametrize("name", ["node_modules", ".venv"])
def test_a_link_to_a_private_folder_is_not_followed(
    name: str, ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    ann.write(".ssh/id_ed25519", SECRET)
    ann.write(".ssh/pyvenv.cfg", "home = /usr/bin\n")
    (ann.shop.path / name).symlink_to("../.ssh")
    view = ann.view()
    assert view.places.shown == ()
    with ann.sandbox(bubblewrap_runtimes, view) as (box, _):
        assert _finds(box, ann) == ""


def test_what_the_repository_itself_has_is_left_as_it_is(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    ann.shop.write("node_modules/left/index.js", b"module.exports = 'committed'")
    ann.shop.git("add", "--force", "node_modules")
    ann.shop.commit()
    ann.write("shop/node_modules/left/index.js", "module.exports = 'installed'")
    with ann.sandbox(bubblewrap_runtimes) as (box, _):
        assert box.sh("node -p \"require('left')\"").output.strip() == "committed"


def _tools(ann: Person) -> None:
    """Lay out what version managers lay out, and choose versions as people do."""
    ann.program(".nvm/versions/node/v18.2.0/bin/node", "old-node")
    ann.program(".nvm/versions/node/v18.19.1/bin/node", "node-of-nvm")
    ann.shop.write(".nvmrc", b"18\n")
    ann.program(".pyenv/versions/3.9.1/bin/python3.9", "python-of-pyenv")
    ann.program(".pyenv/shims/python3.9", "shim")
    ann.write(".pyenv/version", "3.9.1\n")
    ann.program(".asdf/installs/elixir/1.15.0/bin/elixir", "elixir-of-asdf")
    ann.write(".tool-versions", "elixir 1.15.0\n")
    ann.program(".local/share/mise/installs/zig/0.11.0/bin/zig", "zig-of-mise")
    ann.write("shop/mise.toml", '[tools]\nzig = "0.11"\n')
    ann.program(".volta/tools/image/pnpm/8.1.0/bin/pnpm", "pnpm-of-volta")
    ann.shop.write("package.json", package_json(volta={"pnpm": "8.1.0"}).encode())
    ann.program(".rustup/toolchains/stable-x/bin/rustc", "rustc-of-rustup")
    ann.write(".rustup/settings.toml", 'default_toolchain = "stable"')
    ann.program(".cargo/bin/cargo-nextest", "nextest-of-cargo")
    ann.program(".rbenv/versions/3.2.2/bin/rspec", "rspec-of-rbenv")
    ann.write("shop/.ruby-version", "3.2.2\n")
    ann.program(".sdkman/candidates/java/17/bin/javac", "javac-of-sdkman")
    (ann.home / ".sdkman/candidates/java/current").symlink_to("17")
    ann.environ["JAVA_HOME"] = f"{ann.home}/.sdkman/candidates/java/current"
    ann.program("sdk/go/bin/go", "go-of-path")
    ann.write("sdk/go/pkg/tool")
    ann.write("go/pkg/mod/cache/download/list", "modules")
    ann.program(".local/bin/just", "just-alone")
    ann.write(".local/share/keyrings/login", SECRET)
    own = (".pyenv/shims", "sdk/go/bin", ".local/bin")
    folders = [*(f"{ann.home}/{folder}" for folder in own), "/usr/bin", "/bin"]
    ann.environ["PATH"] = ":".join(folders)
    ann.shop.commit()


SAID = {
    "node": "node-of-nvm",
    "python3.9": "python-of-pyenv",
    "elixir": "elixir-of-asdf",
    "zig": "zig-of-mise",
    "pnpm": "pnpm-of-volta",
    "rustc": "rustc-of-rustup",
    "cargo-nextest": "nextest-of-cargo",
    "rspec": "rspec-of-rbenv",
    "javac": "javac-of-sdkman",
    "go": "go-of-path",
    "just": "just-alone",
    "cat $(echo $GOPROXY | cut -c8-)/list": "modules",
}


def test_toolchains_of_version_managers_are_found_in_path(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    _tools(ann)
    view = ann.view()
    with ann.sandbox(bubblewrap_runtimes, view) as (box, _):
        said = {command: box.sh(command).output.strip() for command in SAID}
        homes = box.sh("echo $JAVA_HOME $RUSTUP_HOME").output.split()
        assert _finds(box, ann) == ""
    assert said == SAID
    assert homes == [ann.environ["JAVA_HOME"], f"{ann.home}/.rustup"]
    assert "~/.nvm/versions/node/v18.19.1" in view.note
    assert view.note.startswith("The sandbox sees ")


def test_looking_for_all_of_it_takes_a_moment(ann: Person) -> None:
    _tools(ann)
    ann.environment()
    ann.write("shop/node_modules/left/index.js")
    ann.view()
    began = process_time()
    ann.view()
    assert process_time() - began < 0.05


@pytest.mark.parametrize("version", ["../../../.ssh", "/etc", "..", "3.9.1/../../x"])
def test_a_version_that_the_repository_names_leads_nowhere_else(
    version: str, ann: Person
) -> None:
    ann.write(".ssh/bin/x")
    ann.write(".x/bin/x")
    ann.program(".pyenv/versions/3.9.1/bin/python3.9", "python")
    ann.shop.write(".python-version", version.encode())
    ann.shop.commit()
    assert ann.view().places.shown == ()


def test_the_interpreter_of_an_environment_comes_with_it(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    """As with Pythons of pyenv and uv, which are in the home folder."""
    packages = ann.environment()
    base = ann.home / ".local/share/uv/python/cpython-3.11"
    (base / "bin").mkdir(parents=True)
    (base / "lib").mkdir()
    shutil.copy("/usr/bin/python3", base / "bin/python3.11")
    (base / "lib" / packages.parent.name).symlink_to(f"/usr/lib/{packages.parent.name}")
    (base.parent / "3").symlink_to(base.name)
    python = ann.shop.path / ".venv/bin/python3"
    for name in ("python", "python3"):
        python.with_name(name).unlink(missing_ok=True)
        python.with_name(name).symlink_to(base.parent / "3/bin/python3.11")
    config = ann.shop.path / ".venv/pyvenv.cfg"
    config.write_text(
        re.sub("home = .*", f"home = {base.parent}/3/bin", config.read_text())
    )
    with ann.sandbox(bubblewrap_runtimes) as (box, _):
        told = box.sh('.venv/bin/python3 -c "import sys; print(sys.base_prefix)"')
    assert told.output.strip() == f"{base.parent}/3"


def test_an_environment_that_cannot_work_is_named_and_not_shown(ann: Person) -> None:
    ann.environment()
    config = ann.shop.path / ".venv/pyvenv.cfg"
    (ann.home / ".config/lib/python3.11").mkdir(parents=True)
    config.write_text(f"home = {ann.home}/.config/bin\n")
    view = ann.view()
    assert view.places.shown == ()
    [told] = view.refused
    assert told == (
        "The sandbox does not see .venv, because of its Python in ~/.config: ~/.config "
        "is private."
    )


def test_a_repository_that_prepares_itself_gets_tools_alone(ann: Person) -> None:
    _tools(ann)
    ann.environment()
    ann.write("shop/node_modules/left/index.js")
    view = ann.view(with_environments=False)
    assert (view.places.checkout, view.places.inside) == ("", ())
    assert "VIRTUAL_ENV" not in view.environment
    assert ".nvm" in view.note


def test_the_active_environment_comes_before_the_one_nearby(ann: Person) -> None:
    ann.environment()
    ann.environment("envs/active")
    ann.environ["VIRTUAL_ENV"] = f"{ann.home}/envs/active"
    view = ann.view()
    assert view.environment["VIRTUAL_ENV"] == f"{ann.home}/envs/active"
    assert view.note == "The sandbox sees ~/envs/active (read-only)."


def test_a_network_leaves_the_caches_of_packages_writable(ann: Person) -> None:
    _tools(ann)
    ann.write(".cargo/registry/x")
    assert {"GOPROXY", "CARGO_HOME"} <= ann.view().environment.keys()
    online = ann.view(is_offline=False).environment
    assert not {"GOPROXY", "CARGO_HOME"} & online.keys()


def test_what_is_shown_does_not_count_as_files_of_the_sandbox(
    ann: Person, bubblewrap_runtimes: BubblewrapRuntimes
) -> None:
    """A limit of 64 MiB, and 96 that are installed: nothing is stopped."""
    big = ann.write("shop/node_modules/left/big")
    big.write_bytes(b"x" * (96 << 20))
    view = ann.view()
    with ann.sandbox(bubblewrap_runtimes, view, disk="64m") as (box, _):
        box.sh("head -c 24M /dev/urandom > own")
        told = box.sh("sleep 1; echo alive")
        assert told.output.strip() == "alive"
        # The clone, which is seen in two places, counts once.
        stopped = box.sh("head -c 48M /dev/urandom > more; sleep 20; echo alive")
        assert "alive" not in stopped.output
