# A base for sandboxes: what most repositories take to be tested. `sandbox.image`, or `image` in
# a repository's .patchwright.toml, names it; an image of your own wants Python 3.8 and git.
#
#   docker build -f deploy/sandbox.Dockerfile --build-arg BASE=IMAGE@sha256:... .
#
# The worker brings its own program into the container, which runs as user 1000, without
# capabilities and on a read-only root; so there is nothing to set up here but tools.
ARG BASE=python:3.12-slim-bookworm

FROM ${BASE}
COPY deploy/need /usr/local/bin/
ARG PACKAGES="ca-certificates curl git patch procps ripgrep unzip"
RUN need ${PACKAGES}
ARG VERSION=unknown
LABEL org.opencontainers.image.title="patchwright-sandbox" \
    org.opencontainers.image.description="A base for the sandboxes of Patchwright" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}"
USER 1000:1000
WORKDIR /workspace
