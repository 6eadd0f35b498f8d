"""The rules for what gains rights, lasts beyond the run, or stops the machine."""

from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.shell.call import Call, Rule, Rules
from patchwright.core.security.verdicts import LOW, high, medium

_ALL_PROCESSES: Final = {"-1", "1", "0"}


def _always(why: str) -> Rule:
    return lambda _: high(why)


def _unless(*harmless: str, why: str) -> Rule:
    """Return a rule that lets pass what only shows something."""

    def judge(call: Call) -> Verdict:
        shows = any(text in harmless for text in call.texts)
        return LOW if shows else high(why)

    return judge


def _kill(call: Call) -> Verdict:
    *_, last = call.texts or [""]
    if last in _ALL_PROCESSES and not call.has("-l"):
        return high("It ends every process.")
    return LOW


def _kill_by_name(_: Call) -> Verdict:
    return medium("It ends processes by their name.")


_GAINS: Final = "It gains rights that a test run does not need."
_LASTS: Final = "It has something run later by itself."
_OUTER: Final = "It reaches for the machine around the sandbox."
_STOPS: Final = "It stops the machine."

RULES: Final[Rules] = {
    **dict.fromkeys(
        (
            "sudo doas su pkexec runuser setpriv capsh setcap newgrp passwd chpasswd "
            "visudo useradd usermod userdel groupadd adduser addgroup gpasswd"
        ).split(),
        _always(_GAINS),
    ),
    **dict.fromkeys(
        (
            "nsenter unshare chroot pivot_root mount umount insmod modprobe rmmod "
            "docker podman nerdctl ctr crictl runc buildah docker-compose kexec "
            "iptables ip6tables nft ufw bpftool"
        ).split(),
        _always(_OUTER),
    ),
    **dict.fromkeys(
        ("at", "batch", "update-rc.d", "chkconfig", "launchctl", "systemd-run"),
        _always(_LASTS),
    ),
    "crontab": _unless("-l", why=_LASTS),
    "systemctl": _unless("status", "list-units", "is-active", "show", why=_LASTS),
    "sysctl": _unless("-a", "-n", why=_OUTER),
    "kill": _kill,
    **dict.fromkeys(("pkill", "killall", "fuser"), _kill_by_name),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff", "init", "telinit"),
        _always(_STOPS),
    ),
}
