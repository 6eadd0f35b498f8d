# The machine of somebody who installs with pipx, and has a Python that the system manages.
ARG BASE
FROM ${BASE}
RUN apt-get -q update \
    && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
        bubblewrap git make pipx python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --shell /bin/bash reader
USER reader
WORKDIR /home/reader
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt \
    PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_NO_COMPILE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
