# The machine of somebody who begins: Debian with what the tutorials ask for, no more.
ARG BASE
FROM ${BASE}
RUN printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d \
    && chmod 755 /usr/sbin/policy-rc.d \
    && apt-get -q update \
    && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
        bubblewrap curl docker-compose docker.io openssl python3-venv socat \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --shell /bin/bash reader
COPY docker docker-compose /usr/local/bin/
USER reader
WORKDIR /home/reader
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt \
    PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_NO_COMPILE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
