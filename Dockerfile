# The node as a container: Debian slim, the newest LTS release of Node, an unprivileged user. docs/deployment.md says how to run it.
ARG NODE=26-trixie-slim

FROM node:${NODE} AS build
WORKDIR /build
COPY . .
RUN npm run build
RUN node scripts/pnpm/node_modules/pnpm/bin/pnpm.cjs --filter @ratatosk/node --prod \
    --config.inject-workspace-packages=true deploy /node

FROM node:${NODE}
RUN useradd --system --uid 10001 --no-create-home ratatosk \
    && install --directory --owner=ratatosk --mode=0700 /data
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
