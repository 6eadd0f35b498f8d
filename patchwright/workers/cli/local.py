"""Resolve an issue that is a text file, in a repository on this machine."""

from pathlib import Path

from patchwright.core.errors import GitError, SettingsError
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.text.names import slug
from patchwright.core.types.work import Task
from patchwright.integrations.git.local import LocalRepository
from patchwright.resolver.brief import brief_text
from patchwright.resolver.knowledge import gather
from patchwright.resolver.messages.status import Delivered
from patchwright.resolver.triage import Ask, needs_input, triage_texts
from patchwright.workers.cli.options import Deliver
from patchwright.workers.cli.session import Finished, Session


def resolve_local(
    session: Session, repo: Path, issue: Path, deliver: Deliver
) -> Finished:
    """Work on the current commit; the work tree and the index stay as they are."""
    if deliver in (Deliver.DRAFT, Deliver.READY):
        raise SettingsError(
            f"--deliver {deliver} opens a pull request, which needs an issue's URL; "
            "for a local repository use branch, patch or none"
        )
    try:
        repository = LocalRepository.open(repo)
        base_sha = repository.resolve()
    except GitError as error:
        raise SettingsError(f"--repo: {error}") from error
    title, body = _read_issue(issue)
    judged = triage_texts(title, body)
    if session.settings.agent.triage and isinstance(judged, Ask):
        return Finished(needs_input(judged), Delivered())
    config = read_repository_config(repository.objects.read_file(base_sha, CONFIG_FILE))
    session, notes = session.heeding(config)
    task = _write_task(title, body, repository, base_sha)
    wishes = {
        "setup": config.setup,
        "tests": config.test,
        "notes": (*notes, *task.notes),
    }
    task = task.model_copy(update=wishes)
    outcome = session.resolve(task, repository.objects, base_sha, config=config)
    delivered = Delivered()
    if outcome.head_sha and deliver is Deliver.BRANCH:
        name = f"patchwright/{slug(outcome.title or title or 'proposed change')}"
        delivered = _make_branch(repository, name, outcome.head_sha, session.run_id)
    if outcome.head_sha and deliver is Deliver.PATCH:
        session.write_patch(repository.objects, outcome)
    repository.objects.release(session.run_id)
    return Finished(outcome, delivered)


def _make_branch(
    repository: LocalRepository, name: str, sha: str, run_id: str
) -> Delivered:
    """Make a branch; if somebody has that name already, take another."""
    try:
        repository.create_branch(name, sha)
    except GitError:
        name = f"{name}-{run_id[:8]}"
        repository.create_branch(name, sha)
    return Delivered(branch=name)


def _read_issue(issue: Path) -> tuple[str, str]:
    """Return title and text; the first line is the title if it looks like one."""
    try:
        text = issue.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise SettingsError(f"--issue: {error}") from error
    if not text.strip():
        raise SettingsError(f"--issue: {issue} is empty; write what is wrong")
    first, _, rest = text.strip().partition("\n")
    return (first.lstrip("# ").strip(), rest) if first.startswith("#") else ("", text)


def _write_task(
    title: str, body: str, repository: LocalRepository, base_sha: str
) -> Task:
    written = brief_text(title, body)
    knowledge = gather(repository.objects, base_sha)
    guide = knowledge.for_prompt(written.text)
    unsaved = repository.has_uncommitted_changes()
    notes = ["Changes that are not committed were not seen."] if unsaved else []
    return Task(
        text="\n\n".join(part for part in (guide, written.text) if part),
        base_sha=base_sha,
        base_branch=repository.find_branch() or "",
        title=title,
        files=written.files,
        notes=(*written.notes, *knowledge.notes, *notes),
    )
