# The reverse proxy: Caddy with our Caddyfile, as a user of its own.
ARG BASE=caddy:2

FROM ${BASE}
COPY deploy/Caddyfile /etc/caddy/Caddyfile
# A new volume takes over owner and mode from here.
RUN mkdir -p /data /config && chown 10002:10002 /data /config && chmod 700 /data /config
ARG VERSION=unknown
LABEL org.opencontainers.image.title="patchwright-proxy" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}"
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
USER 10002:10002
EXPOSE 8080 8443
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
