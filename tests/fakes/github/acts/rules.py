"""Admins set rules; pushes and the API are held to them."""

from tests.fakes.github import bare
from tests.fakes.github.exchange import RefusedError
from tests.fakes.github.rule_state import NO_RULES, Rules
from tests.fakes.github.state import Repo, World


def set_rules(world: World, full_name: str, rules: Rules) -> None:
    with world.lock:
        world.rules[world.repo(full_name).full_name.lower()] = rules


def rules_of(world: World, repo: Repo) -> Rules:
    return world.rules.get(repo.full_name.lower(), NO_RULES)


def check_archived(world: World, repo: Repo) -> None:
    if rules_of(world, repo).archived:
        raise RefusedError(403, "Repository was archived so is read-only.")


def check_new_branch(world: World, repo: Repo) -> None:
    if rules_of(world, repo).no_new_branches:
        raise broken("Cannot create ref due to creations being restricted.")


def broken(rule: str) -> RefusedError:
    """Refuse as a ruleset does.

    https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/troubleshooting-rules
    """
    return RefusedError(422, f"Repository rule violations found\n\n{rule}\n\n")


def sign(repo: Repo, branch: str) -> str:
    """Put a signature of GitHub's own on the newest commit of a branch; return it."""
    ref = f"refs/heads/{branch}"
    raw = bare.git(repo.git, "cat-file", "commit", ref)
    head, blank, message = raw.partition(b"\n\n")
    signature = b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----"
    signed = head + signature + blank + message
    store = ("hash-object", "-t", "commit", "-w", "--stdin")
    sha = bare.git(repo.git, *store, stdin=signed).decode().strip()
    bare.git(repo.git, "update-ref", ref, sha)
    return sha


def is_signed(repo: Repo, sha: str) -> bool:
    head, _, _ = bare.git(repo.git, "cat-file", "commit", sha).partition(b"\n\n")
    return b"\ngpgsig " in head
