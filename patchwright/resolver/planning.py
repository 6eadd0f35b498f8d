"""Decide whether people want to see a plan before anything is changed."""

from patchwright.core.agent.prompts import prompt
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.text.commands import Verb, parse_command
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Task, TaskMode


def wants_plan(trigger: Trigger, config: RepositoryConfig) -> bool:
    """Tell whether the requester or the repository wants a plan first.

    What the bot's own work has led to belongs to what was approved already.
    """
    if trigger.kind.is_automatic:
        return False
    if config.plan_approval == "comment":
        return True
    if trigger.kind is TriggerKind.REVIEW:
        return False
    command = parse_command(trigger.request)
    return command is not None and command.verb is Verb.PLAN


def plan_first(task: Task) -> Task:
    """Return the task of bringing a plan for it; what the model reads first stays."""
    text = f"{task.text}\n\n{prompt('plan')}"
    return task.replace(text=text, mode=TaskMode.PLAN)
