"""The rules for what gains rights, lasts beyond the run, or stops the machine."""

from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.shell.call import Call, Rule, Rules, always, for_programs
from patchwright.core.security.verdicts import LOW, high, medium

_ALL_PROCESSES: Final = {"-1", "1", "0"}


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


_LASTS: Final = "It has something run later by itself."
_OUTER: Final = "It reaches for the machine around the sandbox."

RULES: Final[Rules] = {
    **for_programs(
        "sudo doas su pkexec runuser setpriv capsh setcap newgrp passwd chpasswd "
        "visudo useradd usermod userdel groupadd adduser addgroup gpasswd",
        always("It gains rights that a test run does not need."),
    ),
    **for_programs(
        "nsenter unshare chroot pivot_root mount umount insmod modprobe rmmod docker "
        "podman nerdctl ctr crictl runc buildah docker-compose kexec iptables "
        "ip6tables nft ufw bpftool",
        always(_OUTER),
    ),
    **for_programs(
        "at batch update-rc.d chkconfig launchctl systemd-run", always(_LASTS)
    ),
    **for_programs(
        "shutdown reboot halt poweroff init telinit", always("It stops the machine.")
    ),
    **for_programs("pkill killall fuser", _kill_by_name),
    "crontab": _unless("-l", why=_LASTS),
    "systemctl": _unless("status", "list-units", "is-active", "show", why=_LASTS),
    "sysctl": _unless("-a", "-n", why=_OUTER),
    "kill": _kill,
}
