# PostgreSQL, Redis and Caddy as their own images have them, from Debian's packages.
ARG BASE
FROM ${BASE}
# No package may start its server while it is installed.
RUN printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d \
    && chmod 755 /usr/sbin/policy-rc.d \
    && apt-get -q update \
    && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
        caddy postgresql redis-server \
    && rm -rf /var/lib/apt/lists/* /var/lib/postgresql/* \
    && install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data \
    && chmod 3777 /run/postgresql
COPY postgres-entrypoint /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data
ENTRYPOINT ["postgres-entrypoint"]
