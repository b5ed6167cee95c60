# The command `ratatosk` as a container: Debian slim, the newest LTS release of Node, the programs of a PostgreSQL
# client, an unprivileged user. docs/deployment.md says how to run it.
ARG NODE=26-trixie-slim

FROM node:${NODE} AS build
WORKDIR /build
COPY . .
RUN npm run build
RUN node scripts/pnpm/node_modules/pnpm/bin/pnpm.cjs --filter @ratatosk/cli --prod \
    --config.inject-workspace-packages=true deploy /node \
    && chmod 755 /node/dist/main.js

FROM node:${NODE}
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home ratatosk \
    && install --directory --owner=ratatosk --mode=0700 /data \
    && ln --symbolic /node/dist/main.js /usr/local/bin/ratatosk
COPY --from=build /node /node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER 10001
WORKDIR /node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
# Liveness: a node whose database is unavailable is alive, and a restart would not mend it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["node", "-e", "fetch(`http://${process.env.HOST.replace(/.*:.*/, '[$&]')}:${process.env.PORT}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=64", "dist/main.js"]
CMD ["start"]
