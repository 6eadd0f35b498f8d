"""The rules for what gains rights, lasts beyond the run, or stops the machine."""

from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.shell.call import ProgramCall, ProgramRule, ProgramRules, always_risky, for_programs
from patchwright.core.security.verdicts import LOW_RISK, high_risk, medium_risk

_ALL_PROCESSES: Final = {"-1", "1", "0"}


def _unless(*harmless: str, why: str) -> ProgramRule:
    """Return a rule that lets pass what only shows something."""

    def judge(call: ProgramCall) -> Verdict:
        shows = any(text in harmless for text in call.texts)
        return LOW_RISK if shows else high_risk(why)

    return judge


def _kill(call: ProgramCall) -> Verdict:
    *_, last = call.texts or [""]
    if last in _ALL_PROCESSES and not call.has("-l"):
        return high_risk("It ends every process.")
    return LOW_RISK


def _kill_by_name(_: ProgramCall) -> Verdict:
    return medium_risk("It ends processes by their name.")


_LASTS: Final = "It has something run later by itself."
_OUTER: Final = "It reaches for the machine around the sandbox."

PRIVILEGE_RULES: Final[ProgramRules] = {
    **for_programs(
        "sudo doas su pkexec runuser setpriv capsh setcap newgrp passwd chpasswd "
        "visudo useradd usermod userdel groupadd adduser addgroup gpasswd",
        always_risky("It gains rights that a test run does not need."),
    ),
    **for_programs(
        "nsenter unshare chroot pivot_root mount umount insmod modprobe rmmod docker "
        "podman nerdctl ctr crictl runc buildah docker-compose kexec iptables "
        "ip6tables nft ufw bpftool",
        always_risky(_OUTER),
    ),
    **for_programs(
        "at batch update-rc.d chkconfig launchctl systemd-run", always_risky(_LASTS)
    ),
    **for_programs(
        "shutdown reboot halt poweroff init telinit", always_risky("It stops the machine.")
    ),
    **for_programs("pkill killall fuser", _kill_by_name),
    "crontab": _unless("-l", why=_LASTS),
    "systemctl": _unless("status", "list-units", "is-active", "show", why=_LASTS),
    "sysctl": _unless("-a", "-n", why=_OUTER),
    "kill": _kill,
}
