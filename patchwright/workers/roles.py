"""What a process of the service can be."""

from enum import StrEnum


class Role(StrEnum):
    """What a process does; `all` is web and worker in one."""

    ALL = "all"
    WEB = "web"
    WORKER = "worker"
    BEAT = "beat"
