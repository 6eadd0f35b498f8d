"""How the agent works, as the settings say."""

from patchwright.core.agent.agents import find_agent
from patchwright.core.condense.choose import choose_condenser
from patchwright.core.security.choose import choose_analyzer
from patchwright.core.settings.model import Settings
from patchwright.resolver.toolkit import AgentConfiguration


def make_agent_configuration(settings: Settings) -> AgentConfiguration:
    """Compose it; raises `SettingsError` where a name means nothing here."""
    agent = settings.agent
    return AgentConfiguration(
        condenser=choose_condenser(agent.condenser),
        analyzer=choose_analyzer(agent.analyzers),
        agent=find_agent(agent.name),
        confirm=agent.confirm,
        max_delegate_depth=agent.max_delegate_depth,
    )
