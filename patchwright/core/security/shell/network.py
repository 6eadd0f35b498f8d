"""The rules for programs that connect to other machines or install packages."""

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
    first_match,
    for_programs,
    names_in,
)

SENDS: Final = high_risk("It sends data to another machine.")
_SHARES_SHELL: Final = high_risk("It gives another machine a shell.")
_LISTENS: Final = medium_risk("It waits for other machines to connect.")

FETCHERS: Final = names_in("curl wget http https aria2c fetch lynx")
_CURL_VALUED: Final = names_in(
    """
    -H --header -o --output -A --user-agent -u --user -m --max-time -w --write-out -b
    --cookie -c --cookie-jar -e --connect-timeout --retry --retry-delay -x --proxy -K
    --config -X --request -r --range --cacert --resolve -P --method --output-document
    --tries --timeout -t
    """
)
_SENDING: Final = names_in(
    """
    -d --data --data-binary --data-raw --data-urlencode --data-ascii --json -F --form
    --form-string --upload-file --post-data --post-file --body-data --body-file
    --url-query
    """
)
_HARMLESS_METHODS: Final = {"GET", "HEAD", "OPTIONS"}
_SENDING_METHODS: Final = ("POST", "PUT", "PATCH", "DELETE")
_REMOTE: Final = re.compile(r"(?:^[\w.-]+@|^rsync://|^[\w.-]+:)(?!\\)")


def _fetch(call: ProgramCall) -> Verdict:
    own = {"curl": ("-T", "-o", "--output"), "wget": ("-O", "-O", "--output-document")}
    upload_or_file, *saving = own.get(call.name, ("", "-o", "--output"))
    valued = _CURL_VALUED | _SENDING | {upload_or_file}
    urls = call.operands(valued) + call.values_of("--url")
    saved = [word.text for word in call.values_of(*saving) if word.text != "-"]
    written = (judge_write(path, call.command.folder) for path in saved)
    return worst_verdict([_judge_urls(call, urls), *written])


def _judge_urls(call: ProgramCall, urls: list[ShellWord]) -> Verdict:
    kinds = {kind_of_host(host_of(url.text)) for url in urls}
    if HostKind.METADATA in kinds:
        return high_risk(METADATA)
    if kinds == {HostKind.OWN}:
        return LOW_RISK
    if _sends(call) or any(map(_carries, urls)):
        return SENDS
    return medium_risk("It fetches something from another machine.")


def _sends(call: ProgramCall) -> bool:
    methods = call.values_of("-X", "--request", "--method")
    other = any(one.text.upper() not in _HARMLESS_METHODS for one in methods[:1])
    uploads = call.name == "curl" and (
        call.has("-T") or any(text[:2] in {"-d", "-F"} for text in call.texts)
    )
    given = any(
        text.partition("=")[0] in _SENDING or text in _SENDING_METHODS
        for text in call.texts
    )
    is_fed = bool(call.command.piped_from) or call.command.stdin is not None
    return other or uploads or given or is_fed


def _carries(url: ShellWord) -> bool:
    """Tell whether what the shell fills in would leave with the URL."""
    host = host_of(url.text)
    is_open = not url.is_known and host and UNKNOWN_PART not in host
    return bool(url.inner or is_open)


def _connect(call: ProgramCall) -> Verdict:
    hosts = [w.text.rpartition(",")[2] for w in call.operands({"-p", "-w", "-s"})]
    is_own = hosts and kind_of_host(hosts[0]) is HostKind.OWN
    return LOW_RISK if is_own else SENDS


def _socket_cat(call: ProgramCall) -> Verdict:
    text = " ".join(call.texts).upper()
    return _SHARES_SHELL if "EXEC:" in text or "SYSTEM:" in text else SENDS


def _look_up(call: ProgramCall) -> Verdict:
    """Judge a look-up: the name can carry data to the server of its domain."""
    carries = any(word.inner or not word.is_known for word in call.arguments)
    if carries or call.command.piped_from:
        return SENDS
    return medium_risk("It asks another machine.")


def _synchronise(call: ProgramCall) -> Verdict:
    operands = [word.text for word in call.operands({"-e", "--rsh", "-F", "-i", "-P"})]
    if call.values_of("-e", "--rsh") or any(map(_REMOTE.match, operands)):
        return SENDS
    targets = operands[-1:]
    return worst_verdict(judge_write(target, call.command.folder) for target in targets)


PUBLISHES: Final = high_risk("It publishes a package.")
_INSTALLS: Final = medium_risk("It installs packages, whose code is other people's.")
_ELSEWHERE: Final = high_risk(
    "It installs code from an address outside a package registry."
)
_ADDRESS: Final = re.compile(r"(?:[\w+.-]+://|git\+|git@|github:|gitlab:|bitbucket:)")
_GITHUB_SHORT: Final = re.compile(r"[A-Za-z][\w-]*/[\w.-]+(?:#.+)?\Z")
_INDEX: Final = (
    "-i", "--index-url", "--extra-index-url", "--index", "--default-index",
    "--find-links", "-f", "--trusted-host", "--registry", "--source", "--git",
)  # fmt: skip
_PUBLISHING: Final = {"publish", "upload", "push", "login", "adduser", "token", "owner"}
_SCOPED: Final = {"npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"}


def _packages(installing: str) -> ProgramRule:
    """Return a rule for a tool of which only these subcommands install."""

    def judge(call: ProgramCall) -> Verdict:
        subcommands = {word.text for word in call.operands(_INDEX)[:2]}
        if subcommands & _PUBLISHING:
            return PUBLISHES
        return _install(call) if subcommands & {*installing.split()} else LOW_RISK

    return judge


def _install(call: ProgramCall) -> Verdict:
    is_scoped = call.name in _SCOPED
    elsewhere = call.values_of(*_INDEX) or any(
        _ADDRESS.search(text) or (is_scoped and _GITHUB_SHORT.match(text))
        for text in call.texts
    )
    return _ELSEWHERE if elsewhere else _INSTALLS


PIP: Final = _packages("install download wheel")

NETWORK_RULES: Final[ProgramRules] = for_programs(
    (" ".join(FETCHERS), _fetch),
    (
        "nc ncat netcat telnet",
        first_match(
            ("-e|-c|--exec|--sh-exec", _SHARES_SHELL),
            ("-l|--listen", _LISTENS),
            ("", _connect),
        ),
    ),
    ("dig nslookup host drill ping ping6 whois traceroute", _look_up),
    ("rsync scp", _synchronise),
    ("socat", _socket_cat),
    (
        """
        ssh sftp ftp lftp tftp mail mailx sendmail mutt msmtp nmap masscan ngrok
        cloudflared aws gcloud gsutil az kubectl helm gh glab hub rclone s3cmd doctl
        heroku flyctl vercel netlify terraform ansible mosh ssh-copy-id tailscale wg
        openvpn tor chisel frpc
        """,
        high_risk("It acts on another machine or an outside service."),
    ),
    ("pip pipx conda mamba", PIP),
    ("easy_install npx pnpx bunx uvx dpkg rpm snap flatpak", _install),
    ("uv poetry pdm pipenv hatch", _packages("install add sync update tool lock")),
    ("npm pnpm yarn bun", _packages("install i ci add update exec dlx create x")),
    ("cargo go gem bundle composer", _packages("install add update get require")),
    (
        "apt apt-get aptitude dnf yum apk brew zypper pacman",
        _packages("install add upgrade dist-upgrade update -S"),
    ),
    ("twine", PUBLISHES),
)
