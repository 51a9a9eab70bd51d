# azlb as it runs in a cluster: production dependencies, no compiler, no tests. The sandbox works in it too.
# The base is pinned to a minor version of Node and a release of Debian; patches of both arrive with a new build. For builds
# that can be repeated exactly, pass a digest: --build-arg BASE=node:24.21-bookworm-slim@sha256:...
ARG BASE=node:24.21-bookworm-slim
FROM ${BASE} AS install
WORKDIR /azlb
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM ${BASE}
WORKDIR /azlb
COPY --from=install /azlb/node_modules node_modules
COPY package.json ./
COPY bin bin
COPY src src
COPY sandbox sandbox
COPY bench bench
COPY sim sim
COPY examples examples
COPY deploy deploy
USER 65532
ENTRYPOINT ["/azlb/bin/azlb"]
