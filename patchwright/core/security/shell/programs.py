"""The programs that are known, and what is thought of those that are not."""

from typing import Final

from patchwright.core.security.shell import (
    deleting,
    files,
    git,
    languages,
    network,
    packages,
    privilege,
    shells,
)
from patchwright.core.security.shell.call import ProgramRules

PROGRAM_RULES: Final[ProgramRules] = {
    **deleting.DELETION_RULES,
    **files.FILE_RULES,
    **network.NETWORK_RULES,
    **privilege.PRIVILEGE_RULES,
    **git.GIT_RULES,
    **packages.PACKAGE_RULES,
    **shells.SHELL_RULES,
    **languages.LANGUAGE_RULES,
}

# They show or compute something; what they are given as files is judged as paths.
_READING: Final = """
    ls cat head tail less more grep egrep fgrep rg ag wc sort uniq cut tr diff cmp comm
    file stat du df tree pwd cd pushd popd dirs echo printf true false : test [ [[ expr
    seq date cal which whereis type hash id whoami groups uname hostname uptime ps top
    free lscpu nproc env printenv export declare typeset readonly local set unset shopt
    read jobs wait bg fg disown sleep basename dirname realpath readlink md5sum sha1sum
    sha256sum sha512sum cksum base64 xxd od hexdump strings jq yq column fold fmt nl
    paste join rev tac expand split csplit yes exit return break continue shift let
    getopts ulimit umask help man info history locale tput stty clear xargs lsof ss
    netstat ip ifconfig getconf ldd nm objdump readelf size zcat zgrep gzip gunzip bzip2
    xz zip zstd patch mktemp envsubst iconv dos2unix unix2dos tsort shuf numfmt cloc
    bc dc factor pgrep pidof script look
"""
# They build and test the repository: its own code runs, which is what the run is for.
_BUILDING: Final = """
    pytest py.test tox nox unittest coverage mypy ruff black isort flake8 pylint pyright
    pre-commit make cmake ninja meson bazel gcc g++ cc clang clang++ ld ar rustc rustup
    javac java mvn gradle gradlew mvnw sbt kotlinc scala dotnet msbuild swift xcodebuild
    tsc eslint prettier jest vitest mocha karma webpack vite rollup esbuild turbo nx
    lerna rake rspec rails rubocop phpunit ghc stack cabal elixir mix erl rebar3 dune
    ocaml opam zig nim crystal julia gofmt golangci-lint clippy rustfmt autoconf
    automake configure pkg-config sphinx-build mkdocs pandoc django-admin flask
    gunicorn uvicorn alembic celery sqlite3 psql mysql redis-cli shellcheck shfmt
    yamllint hadolint
"""
KNOWN: Final = frozenset((_READING + _BUILDING).split())

# What they are given is text to them, not the names of files.
SPEAKING: Final = frozenset({"echo", "printf", "true", "false", ":", "export", "expr"})
