"""Read what `resolve` is to work on, in the forms that people type."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.plugin import Plugin, ServiceProfile
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.threads import ForgeThread, RepoRef, name_pattern
from patchwright.integrations.registry import find_forge, list_forges
from patchwright.resolver.repository_references import read_thread_url
from patchwright.workers.cli.checkout import (
    find_repository,
    list_remotes,
    other_host_advice,
    read_address,
    read_repository,
    read_typed_address,
)
from patchwright.workers.cli.resolve_command import TypedTarget

STANDARD_INPUT: Final = Path("-")
FORMS: Final = """\
  patchwright resolve 7                         issue 7 of this checkout's repository
  patchwright resolve acme/shop#7               issue 7 of another repository
  patchwright resolve https://HOST/acme/shop/issues/7
  patchwright resolve '!5'                      merge request 5 of this checkout
  patchwright resolve "The cart adds up wrong"  a task in words, for this checkout
  patchwright resolve --task TEXT               the same
  patchwright resolve --file bug.md             a task from a file
  patchwright resolve -                         a task from standard input
With -C FOLDER it works in the checkout in another folder."""


@dataclass(frozen=True)
class UrlTarget:
    """A thread by its address."""

    url: str


@dataclass(frozen=True)
class NumberTarget:
    """An issue or pull request by its number, and the mark that was typed before it.

    Without `repo`, as it was typed, the remotes of the checkout in `folder` say where.
    """

    number: int
    repo: str
    folder: Path
    mark: str = "#"


@dataclass(frozen=True)
class TextTarget:
    """A task in words, for the checkout in `folder`."""

    title: str
    body: str
    folder: Path


@dataclass(frozen=True)
class ThreadTarget:
    """A thread on the forge; `remark` says how its repository was found.

    Without `is_kind_known` it may be an issue or a pull request.
    """

    thread: ForgeThread
    is_kind_known: bool
    remark: str = ""


Target = UrlTarget | NumberTarget | TextTarget


def read_target(typed: TypedTarget) -> Target:
    """Return what was meant; raises `SettingsError` that says how to write it.

    Files and standard input are read here.
    """
    named = _one_source(typed)
    target = _read_source(typed)
    if typed.repo is not None and not isinstance(target, NumberTarget):
        raise SettingsError(_misplaced_repo(typed.repo, named))
    if typed.folder is not None and (
        isinstance(target, UrlTarget)
        or (isinstance(target, NumberTarget) and target.repo)
    ):
        raise SettingsError(f"{named} already names the repository: leave out -C")
    return target


def choose_forge(target: UrlTarget | NumberTarget, settings: Settings) -> Plugin:
    """Return the forge that a target is on, by its address or that of the checkout.

    Where no address says which, it is the one of the settings, unless only another one
    writes names and numbers as they were typed.
    """
    if settings.forge:
        return find_forge(settings)
    if isinstance(target, UrlTarget):
        hosts = {read_address(target.url).host}
    elif target.repo:
        hosts = {read_typed_address(target.repo).host}
    else:
        hosts = {read_address(one).host for one in list_remotes(target.folder)}
    for forge in list_forges():
        site = urlsplit(forge.describe(settings).web_url)
        if not hosts.isdisjoint({site.netloc, site.hostname}):
            return forge
    usual = find_forge(settings)
    return next(
        (
            one
            for one in (usual, *list_forges())
            if _is_written_so(target, one, settings)
        ),
        usual,
    )


def _is_written_so(
    target: UrlTarget | NumberTarget, forge: Plugin, settings: Settings
) -> bool:
    """Tell whether a forge has repositories and numbers of this form."""
    if isinstance(target, UrlTarget):
        return True
    forms = forge.describe(settings).forms
    name = target.repo if _REPOSITORY.fullmatch(target.repo) else ""
    is_name = re.fullmatch(name_pattern(has_groups=forms.has_groups), name) is not None
    return target.mark in forms.marks and (is_name or not name)


def locate_thread(
    target: UrlTarget | NumberTarget, forge: ServiceProfile
) -> ThreadTarget:
    """Return the thread on the forge; a token is sent there, and to no other host."""
    if isinstance(target, UrlTarget):
        return ThreadTarget(read_url(target.url, forge), is_kind_known=True)
    if target.repo:
        name, remark = read_repository(target.repo, forge), ""
    else:
        name, remark = find_repository(target, forge)
    thread = ForgeThread(
        repo=RepoRef(forge=forge.name, full_name=name),
        kind=forge.forms.kind_of_mark(target.mark),
        number=target.number,
    )
    is_known = forge.forms.counts_apart
    return ThreadTarget(thread, is_kind_known=is_known, remark=remark)


def read_url(url: str, forge: ServiceProfile) -> ForgeThread:
    """Return the thread; a token is sent there, so its host must be configured."""
    thread = read_thread_url(url, forge.web_url, forge.name, forge.forms)
    if thread is None:
        raise SettingsError(
            f"{url} is not an issue or pull request on {forge.web_url}; expected "
            f"{forge.web_url}/OWNER/NAME/{forge.forms.pages_path}issues/7. "
            f"{other_host_advice()}"
        )
    return thread


def _one_source(typed: TypedTarget) -> str:
    """Return how the one thing to work on was named."""
    options = (
        (typed.word, repr(typed.word)),
        (typed.issue, "--issue"),
        (typed.file, "--file"),
        (typed.task, "--task"),
    )
    given = [name for value, name in options if value is not None]
    if len(given) > 1:
        raise SettingsError(
            f"{' and '.join(given)} name more than one thing to work on; keep one"
        )
    if given:
        return given[0]
    if typed.repo is not None:
        _refuse_folder(typed.repo)
        raise SettingsError(f"--repo {typed.repo}: add the number: --issue NUMBER")
    raise SettingsError(f"say what to work on, in one of these forms:\n{FORMS}")


def _read_source(typed: TypedTarget) -> Target:
    folder = typed.folder or Path()
    if typed.file is not None:
        return _read_file(typed.file, folder)
    if typed.task is not None:
        if not typed.task.strip():
            raise SettingsError("--task is empty; write the task")
        return TextTarget("", typed.task, folder)
    if typed.issue is not None:
        return _read_issue(typed.issue, typed, folder)
    return _read_word((typed.word or "").strip(), typed, folder)


# Which forge it is about is not known yet: of all forms the widest.
_NAME: Final = name_pattern(has_groups=True)
_NUMBER: Final = re.compile(r"(?P<mark>[#!]?)(?P<number>[1-9]\d{0,9})")
_THREAD: Final = re.compile(rf"(?P<repo>{_NAME})(?P<rest>[#!].+)")
# As browsers show it.
_BARE_ADDRESS: Final = re.compile(
    rf"[\w-]+(?:\.[\w-]+)+/{_NAME}/(?:-/)?(?:issues|pull|merge_requests)/\d+"
)
_REPOSITORY: Final = re.compile(_NAME)


def _read_issue(issue: str, typed: TypedTarget, folder: Path) -> Target:
    if target := _read_reference(issue, typed, folder):
        return target
    if issue == str(STANDARD_INPUT):
        raise SettingsError("--issue is a number; for standard input use --file -")
    if typed.repo is not None and _is_folder(typed.repo):
        raise SettingsError(
            "--repo is OWNER/NAME and --issue a number; for a folder and a file use "
            f"-C {typed.repo} --file {issue}"
        )
    raise SettingsError(f"--issue is a number; for a file use --file {issue}")


def _read_word(word: str, typed: TypedTarget, folder: Path) -> Target:
    if word == str(STANDARD_INPUT):
        return _read_file(STANDARD_INPUT, folder)
    if target := _read_reference(word, typed, folder):
        return target
    # Chinese and Japanese write no spaces between words.
    if re.search(r"\s", word) or not word.isascii():
        return TextTarget("", word, folder)
    raise SettingsError(_unknown_word(word))


def _read_reference(
    text: str, typed: TypedTarget, folder: Path
) -> UrlTarget | NumberTarget | None:
    """Read an address, a number or a repository with a number."""
    if re.match(r"https?://\S+\Z", text):
        return UrlTarget(text)
    if _BARE_ADDRESS.match(text):
        return UrlTarget(f"https://{text}")
    if found := _NUMBER.fullmatch(text):
        if typed.repo is not None:
            _refuse_folder(typed.repo)
        mark = found["mark"] or "#"
        return NumberTarget(int(found["number"]), typed.repo or "", folder, mark)
    thread = _THREAD.fullmatch(text)
    number = _NUMBER.fullmatch(thread["rest"]) if thread else None
    if not (thread and number):
        return None
    if typed.repo is not None:
        raise SettingsError(f"{text} already names the repository: leave out --repo")
    return NumberTarget(int(number["number"]), thread["repo"], folder, number["mark"])


def _unknown_word(word: str) -> str:
    if not word:
        return (
            f"the task is empty; say what to work on, in one of these forms:\n{FORMS}"
        )
    if Path(word).is_dir():
        return f"{word} is a folder; use -C {word} with a number or a task in quotes"
    if Path(word).is_file():
        return f"{word} is a file; use --file {word}"
    if _REPOSITORY.fullmatch(word):
        return f"{word} is a repository; add the number of an issue, such as {word}#7"
    return (
        f"{word} is not a number or a URL, and a task has several words. The forms "
        f"are:\n{FORMS}"
    )


def _refuse_folder(repo: str) -> None:
    """Answer those who name a folder as `--repo` did it once."""
    if _is_folder(repo):
        raise SettingsError(f"--repo is OWNER/NAME; for a folder use -C {repo}")


def _is_folder(repo: str) -> bool:
    return repo.startswith((".", "/", "~")) or (
        "/" not in repo.removesuffix("/") and "@" not in repo
    )


def _misplaced_repo(repo: str, named: str) -> str:
    _refuse_folder(repo)
    return (
        f"--repo goes with the number of an issue, and {named} is none: leave out "
        "--repo, or use -C FOLDER for a checkout on this machine"
    )


def _read_file(path: Path, folder: Path) -> TextTarget:
    """Read title and text; the first line is the title if it looks like one."""
    name = "standard input" if path == STANDARD_INPUT else str(path)
    try:
        text = _read_text(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingsError(f"--file: {name} cannot be read: {reason}") from error
    if not text.strip():
        raise SettingsError(f"{name} is empty; write the task there")
    first, _, rest = text.strip().partition("\n")
    if first.startswith("#"):
        return TextTarget(first.lstrip("# ").strip(), rest, folder)
    return TextTarget("", text, folder)


def _read_text(path: Path) -> str:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    return path.read_text(encoding="utf-8", errors="replace")
