# azlb as it runs in a cluster: production dependencies, no compiler, no tests. The sandbox works in it too.
FROM node:24-slim AS install
WORKDIR /azlb
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-slim
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
