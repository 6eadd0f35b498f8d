# The service: web, worker, scheduler and the command line in one image.
#
#   deploy/build                                # what most people want
#   docker build -f deploy/service.Dockerfile --build-arg BASE=IMAGE@sha256:... .
#
# BASE is Debian with Python 3.11 to 3.13. What it lacks comes from Debian's packages, and
# the wheels from the network unless `deploy/fetch-wheels` has put them into deploy/wheels;
# with neither of them missing it builds with `--network none`.
ARG BASE=python:3.12-slim-bookworm

FROM ${BASE} AS build
COPY deploy/need /usr/local/bin/
RUN python3 -c 'import ensurepip, venv' || need python3-venv
WORKDIR /source
# One layer for what changes seldom, and one for the service itself.
COPY deploy/backend.awk deploy/install requirements.lock requirements-dev.lock deploy/wheel[s] /source/deploy/
RUN sh deploy/install libraries
COPY pyproject.toml README.md LICENSE /source/
COPY patchwright /source/patchwright
RUN sh deploy/install service

FROM ${BASE}
COPY deploy/need /usr/local/bin/
RUN need ca-certificates git openssh-client \
    && useradd --uid 10001 --user-group --home-dir /var/lib/patchwright --create-home \
        --shell /usr/sbin/nologin patchwright
COPY deploy/health /usr/local/bin/
COPY --from=build /opt/patchwright /opt/patchwright
# Known here and nowhere before, as it is another with each version.
ARG VERSION=unknown
LABEL org.opencontainers.image.title="patchwright" \
    org.opencontainers.image.description="Turns a request into a proven pull request" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}"
# The root file system may be read-only: what is written goes there, and into /tmp.
ENV PATH=/opt/patchwright/bin:$PATH \
    HOME=/var/lib/patchwright \
    PYTHONDONTWRITEBYTECODE=1 \
    LOG_JSON=1 \
    PATCHWRIGHT_STATE_DIR=/var/lib/patchwright \
    PATCHWRIGHT_SERVER__HOST=0.0.0.0
USER 10001:10001
WORKDIR /var/lib/patchwright
EXPOSE 8080
# The web side takes deliveries in also while no worker is there; see docs/operations.md.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["health", "8080", "/healthz"]
ENTRYPOINT ["patchwright"]
CMD ["serve"]
