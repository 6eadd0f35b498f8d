"""Put names in place of ids in a request, where its service's deliveries have ids."""

from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger
from patchwright.workers.run.services import RunServices


def name_people(services: RunServices, trigger: Trigger) -> Trigger:
    thread = trigger.thread
    if not isinstance(thread, TalkThread):
        return trigger
    return services.channel.tracker(thread).name_people(trigger)
