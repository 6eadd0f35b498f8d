# What an image of Debian with Python has that this project's Dockerfiles start from.
ARG BASE
FROM ${BASE}
RUN apt-get -q update \
    && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
        curl openssh-client patch procps python3-venv ripgrep unzip \
    && rm -rf /var/lib/apt/lists/*
