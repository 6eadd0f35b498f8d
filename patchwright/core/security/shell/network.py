"""The rules for programs that speak to other machines or install packages."""

import re
from typing import Final

from patchwright.core.security.analyzer import (
    LOW_RISK,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
from patchwright.core.security.hosts import METADATA, HostKind, host_of, kind_of_host
from patchwright.core.security.paths import UNKNOWN_PART, judge_write
from patchwright.core.security.shell.script import (
    ProgramCall,
    ProgramRule,
    ProgramRules,
    ShellWord,
    always_risky,
    for_programs,
)

SENDS: Final = "It sends data to another machine."

FETCHERS: Final = frozenset(
    {"curl", "wget", "http", "https", "aria2c", "fetch", "lynx"}
)
_CURL_VALUED: Final = {
    "-H", "--header", "-o", "--output", "-A", "--user-agent", "-u", "--user", "-m",
    "--max-time", "-w", "--write-out", "-b", "--cookie", "-c", "--cookie-jar", "-e",
    "--connect-timeout", "--retry", "--retry-delay", "-x", "--proxy", "-K", "--config",
    "-X", "--request", "-r", "--range", "--cacert", "--resolve", "-P", "--method",
    "--output-document", "--tries", "--timeout", "-t",
}  # fmt: skip
_SENDING: Final = {
    "-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "--data-ascii",
    "--json", "-F", "--form", "--form-string", "--upload-file", "--post-data",
    "--post-file", "--body-data", "--body-file", "--url-query",
}  # fmt: skip
_HARMLESS_METHODS: Final = {"GET", "HEAD", "OPTIONS"}
_REMOTE: Final = re.compile(r"(?:^[\w.-]+@|^rsync://|^[\w.-]+:)(?!\\)")
_HTTP_METHOD: Final = re.compile(r"(?:POST|PUT|PATCH|DELETE)\Z")


def _fetch(call: ProgramCall) -> Verdict:
    valued = _CURL_VALUED | _SENDING | ({"-T"} if call.name == "curl" else set())
    if call.name == "wget":
        valued |= {"-O"}
    urls = call.operands(valued) + call.values_of("--url")
    return worst_verdict([_spoken(call, urls), *_saved(call)])


def _spoken(call: ProgramCall, urls: list[ShellWord]) -> Verdict:
    kinds = {kind_of_host(host_of(url.text)) for url in urls}
    if HostKind.METADATA in kinds:
        return high_risk(METADATA)
    if kinds == {HostKind.OWN}:
        return LOW_RISK
    if _sends(call) or any(map(_carries, urls)):
        return high_risk(SENDS)
    return medium_risk("It fetches something from another machine.")


def _sends(call: ProgramCall) -> bool:
    method = call.value_of("-X", "--request", "--method") or "GET"
    named = any(_HTTP_METHOD.match(text) for text in call.texts)
    uploads = call.name == "curl" and call.has("-T")
    given = any(text.partition("=")[0] in _SENDING for text in call.texts)
    joined = call.name == "curl" and any(t[:2] in {"-d", "-F"} for t in call.texts)
    fed = bool(call.command.piped_from) or call.command.stdin is not None
    other = method.upper() not in _HARMLESS_METHODS
    return other or named or uploads or given or joined or fed


def _carries(url: ShellWord) -> bool:
    """Tell whether what the shell fills in would leave with the URL."""
    return bool(url.inner) or (
        UNKNOWN_PART in url.text and not _is_all_unknown(url.text)
    )


def _is_all_unknown(text: str) -> bool:
    host = host_of(text)
    return UNKNOWN_PART in host or not host


def _saved(call: ProgramCall) -> list[Verdict]:
    options = ("-O", "--output-document") if call.name == "wget" else ("-o", "--output")
    targets = [w.text for w in call.values_of(*options) if w.text != "-"]
    return [judge_write(target, call.command.folder) for target in targets]


def _connect(call: ProgramCall) -> Verdict:
    if call.has("-e", "-c", "--exec", "--sh-exec"):
        return high_risk("It gives another machine a shell.")
    if call.has("-l", "--listen"):
        return medium_risk("It waits for other machines to connect.")
    hosts = [w.text.rpartition(",")[2] for w in call.operands({"-p", "-w", "-s"})]
    if hosts and kind_of_host(hosts[0]) is HostKind.OWN:
        return LOW_RISK
    return high_risk(SENDS)


def _socket_cat(call: ProgramCall) -> Verdict:
    text = " ".join(call.texts).upper()
    if "EXEC:" in text or "SYSTEM:" in text:
        return high_risk("It gives another machine a shell.")
    return high_risk(SENDS)


def _look_up(call: ProgramCall) -> Verdict:
    """Judge a look-up: the name can carry data to whoever answers for its domain."""
    if any(word.inner or not word.is_known for word in call.arguments):
        return high_risk(SENDS)
    if call.command.piped_from:
        return high_risk(SENDS)
    return medium_risk("It asks another machine.")


def _synchronise(call: ProgramCall) -> Verdict:
    operands = [word.text for word in call.operands({"-e", "--rsh", "-F", "-i", "-P"})]
    if call.value_of("-e", "--rsh") is not None or any(map(_REMOTE.match, operands)):
        return high_risk(SENDS)
    targets = operands[-1:]
    return worst_verdict(judge_write(target, call.command.folder) for target in targets)


NETWORK_RULES: Final[ProgramRules] = {
    **for_programs(" ".join(FETCHERS), _fetch),
    **for_programs("nc ncat netcat telnet", _connect),
    **for_programs("dig nslookup host drill ping ping6 whois traceroute", _look_up),
    **for_programs("rsync scp", _synchronise),
    "socat": _socket_cat,
    **for_programs(
        "ssh sftp ftp lftp tftp mail mailx sendmail mutt msmtp nmap masscan ngrok "
        "cloudflared aws gcloud gsutil az kubectl helm gh glab hub rclone s3cmd doctl "
        "heroku flyctl vercel netlify terraform ansible mosh ssh-copy-id tailscale wg "
        "openvpn tor chisel frpc",
        always_risky("It acts on another machine or an outside service."),
    ),
}


_INSTALLS: Final = "It installs packages, whose code is other people's."
_ELSEWHERE: Final = "It installs code from an address that no registry vouches for."
PUBLISHES: Final = "It publishes a package."

_ADDRESS: Final = re.compile(r"(?:[\w+.-]+://|git\+|git@|github:|gitlab:|bitbucket:)")
_GITHUB_SHORT: Final = re.compile(r"[A-Za-z][\w-]*/[\w.-]+(?:#.+)?\Z")
_INDEX: Final = (
    "-i", "--index-url", "--extra-index-url", "--index", "--default-index",
    "--find-links", "-f", "--trusted-host", "--registry", "--source", "--git",
)  # fmt: skip
_PUBLISHING: Final = {"publish", "upload", "push", "login", "adduser", "token", "owner"}
_SCOPED: Final = {"npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"}


def _packages(*installing: str) -> ProgramRule:
    """Return a rule for a tool of which only these subcommands install."""

    def judge(call: ProgramCall) -> Verdict:
        subcommands = [w.text for w in call.operands(_INDEX)]
        if any(text in _PUBLISHING for text in subcommands[:2]):
            return high_risk(PUBLISHES)
        if not any(text in installing for text in subcommands[:2]):
            return LOW_RISK
        return _install(call)

    return judge


def _install(call: ProgramCall) -> Verdict:
    if call.values_of(*_INDEX) or any(_is_elsewhere(call, t) for t in call.texts):
        return high_risk(_ELSEWHERE)
    return medium_risk(_INSTALLS)


def _is_elsewhere(call: ProgramCall, text: str) -> bool:
    if _ADDRESS.search(text):
        return True
    return call.name in _SCOPED and bool(_GITHUB_SHORT.match(text))


PIP: Final = _packages("install", "download", "wheel")

PACKAGE_RULES: Final[ProgramRules] = {
    **for_programs("pip pipx conda mamba", PIP),
    **for_programs("easy_install npx pnpx bunx uvx dpkg rpm snap flatpak", _install),
    **for_programs(
        "uv poetry pdm pipenv hatch",
        _packages("install", "add", "sync", "update", "tool", "lock"),
    ),
    **for_programs(
        "npm pnpm yarn bun",
        _packages("install", "i", "ci", "add", "update", "exec", "dlx", "create", "x"),
    ),
    **for_programs(
        "cargo go gem bundle composer",
        _packages("install", "add", "update", "get", "require"),
    ),
    **for_programs(
        "apt apt-get aptitude dnf yum apk brew zypper pacman",
        _packages("install", "add", "upgrade", "dist-upgrade", "update", "-S"),
    ),
    "twine": always_risky(PUBLISHES),
}
