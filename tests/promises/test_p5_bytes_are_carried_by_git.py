"""What the agent made of the work tree arrives in the pull request, byte by byte."""

from pathlib import Path

from tests.fakes.github.bare import File, git
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, in_turn, results
from tests.flow.story import REPO, Story, telling

WISH = "@patchwright please tidy up"
FILES: dict[str, str | bytes | File] = {
    "old_name.py": "one = 1\n\ntwo = 2\n\n\nthree = 3\n",
    "same.py": "nothing = None\n",
    "scripts/run.sh": File(b"#!/bin/sh\necho run\n", mode="100755"),
    "scripts/plain.sh": "#!/bin/sh\necho plain\n",
    "latin1.txt": b"caf\xe9\nprice: 1\n",
    "crlf.txt": b"a\r\nb\r\n",
    "no_newline.txt": b"a\nb",
    "link": File(b"same.py", mode="120000"),
    "gone.txt": "gone\n",
}
CHANGES = r"""
mkdir -p new/deep
git mv old_name.py new/deep/name.py && sed -i 's/three = 3/three = 4/' new/deep/name.py
mv same.py renamed.py
ln -sfn renamed.py link && ln -s /nowhere dangling
head -c 3000 /dev/urandom > picture.bin
printf '\000\001\377' > zeros.bin
sed -i 's/echo run/echo ran/' scripts/run.sh
chmod +x scripts/plain.sh
printf '#!/usr/bin/env python3\n' > scripts/made && chmod 755 scripts/made
LC_ALL=C sed -i 's/price: 1/price: 2/' latin1.txt
printf 'c\r\n' >> crlf.txt
printf '\nc' >> no_newline.txt
rm gone.txt
: > empty
printf x > ' sp ace ' && printf x > 'ünï' && printf x > -- '-dash'
printf x > $'tab\tname' && printf x > $'new\nline' && printf x > '"quoted"'
printf x > $'\377byte'
"""
FINISH = call("finish", title="Tidy up", summary="Tidied up.")


def test_s23_to_s27_the_tree_of_the_pull_request_is_that_of_the_sandbox(
    tmp_path: Path,
) -> None:
    trees: list[str] = []

    def finish(request: Request) -> TurnLike:
        trees.append(results(request)[-1].splitlines()[0])
        return FINISH

    script = in_turn(
        call("shell", command=CHANGES),
        call("shell", command="git add -A && git write-tree"),
        finish,
    )
    with telling(tmp_path, script, files=FILES) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Draft, not proven** · #2" in story.reply(issue)
        assert _git(story, "rev-parse", "{head}^{tree}") == trees[0]
        listing = _git(story, "ls-tree", "-r", "{head}")
        assert "new/deep/name.py" in listing
        assert r'"\377byte"' in listing


def test_s29_generated_files_are_left_out_and_named(tmp_path: Path) -> None:
    litter = """
mkdir -p .venv/bin src/__pycache__ node_modules/left-pad
touch .venv/bin/python src/__pycache__/a.pyc node_modules/left-pad/index.js
echo x > out.log; echo x > repro.py; echo 'x = 1' > src/kept.py
"""
    with telling(tmp_path, [call("shell", command=litter), FINISH, FINISH]) as story:
        issue = story.ask(WISH)
        story.work()
        changed = _git(story, "diff", "--name-only", "main", "{head}")
        assert changed.split() == ["src/kept.py"]
        said = "Left out as build or scratch files: `out.log`, `repro.py`."
        assert said in story.reply(issue)
        assert said in story.github.pull_requests(REPO)[0].body


def test_s28_a_submodule_stays_where_it_was(tmp_path: Path) -> None:
    move = """
git update-index --cacheinfo 160000,2222222222222222222222222222222222222222,lib
rm -rf lib && mkdir lib && touch lib/flattened.c
echo x > note.txt
"""
    with telling(tmp_path, [call("shell", command=move), FINISH, FINISH]) as story:
        pointer = "160000 commit " + "1" * 40 + "\tlib"
        _add_entry(story, pointer)
        issue = story.ask(WISH)
        story.work()
        assert pointer in _git(story, "ls-tree", "-r", "{head}").splitlines()
        changed = _git(story, "diff", "--name-only", "main", "{head}")
        assert changed.split() == ["note.txt"]
        assert "**Draft, not proven** · #2" in story.reply(issue)


def _add_entry(story: Story, entry: str) -> None:
    """Commit a line of `git ls-tree` to the default branch."""
    folder = story.github.git_folder(REPO)
    lines = git(folder, "ls-tree", "main") + f"{entry}\n".encode()
    tree = git(folder, "mktree", stdin=lines).decode().strip()
    identity = ("-c", "user.name=alice", "-c", "user.email=alice@shop.test")
    commit = git(folder, *identity, "commit-tree", tree, "-p", "main", "-m", "Add")
    git(folder, "update-ref", "refs/heads/main", commit.decode().strip())


def _git(story: Story, *words: str) -> str:
    """Run git in the repository; `{head}` is the only pull request's commit."""
    [pull] = story.github.pull_requests(REPO)
    filled = [word.replace("{head}", pull.head_sha) for word in words]
    return git(story.github.git_folder(REPO), *filled).decode().strip()
