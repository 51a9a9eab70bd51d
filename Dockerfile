# Three images, each with one program, Node and the libraries that Node is linked with, and nothing else: no shell, no package
# manager, no TypeScript. `docker build .` makes the controller's, `docker build --target=sandbox .` that of the command
# line with the sandbox, `--target=agent` the agent's. The base is only where Node and its libraries are copied from. It is pinned to a patch version of
# Node and a release of Debian; for builds that can be repeated exactly, pass a digest:
# --build-arg BASE=node:24.21.0-bookworm-slim@sha256:...
ARG BASE=node:24.21.0-bookworm-slim
FROM ${BASE} AS build
WORKDIR /azlb
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node build/bundle.ts \
 && node build/image-tree.ts controller /tree/controller \
 && node build/image-tree.ts agent /tree/agent \
 && node build/image-tree.ts cli /tree/cli

FROM scratch AS sandbox
COPY --from=build /tree/cli /
USER 65532:65532
# Short collections of garbage, more of them (docs/decisions/0011)
ENTRYPOINT ["/usr/bin/node", "--max-semi-space-size=16", "/azlb/cli.mjs"]
CMD ["sandbox"]

FROM scratch AS agent
COPY --from=build /tree/agent /
USER 65532:65532
# one runs on every node, so it is to be small
ENTRYPOINT ["/usr/bin/node", "--max-semi-space-size=1", "/azlb/agent.mjs"]

FROM scratch AS controller
COPY --from=build /tree/controller /
USER 65532:65532
# Flags chosen by measurement (docs/decisions/0021): short collections, a heap that grows in small steps, HTTP's parser compiled once
ENV MALLOC_ARENA_MAX=1
ENV MALLOC_TRIM_THRESHOLD_=131072
ENTRYPOINT ["/usr/bin/node", "--max-semi-space-size=16", "--memory-saver-mode", "--heap-growing-percent=50", "--liftoff-only", "--no-sparkplug", "--no-maglev", "--v8-pool-size=1", "--invocation-count-for-turbofan=30000", "/azlb/controller.mjs"]
