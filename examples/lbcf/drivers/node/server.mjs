/**
 * A driver for LBCF, as small as it can be: an HTTP server that answers the webhooks, in front of a toy load balancer
 * that is a table in memory. Plain Node, no packages:
 *
 *   node examples/lbcf/drivers/node/server.mjs            # PORT=11029
 *   curl -s http://127.0.0.1:11029/servers              # what the toy load balancers hold
 *
 * It shows what every driver must do: be asked twice without harm, answer Running while something takes its time, and
 * say in `msg` what a person needs to know.
 *
 *   PORT        where to listen, on 127.0.0.1 (11029)
 *   SLOW_CALLS  how often something new is answered with Running before it is done (1)
 */
import { createServer } from "node:http";

const port = Number(process.env.PORT ?? 11029);
const slowCalls = Number(process.env.SLOW_CALLS ?? 1);

/** Load balancer id → { attributes, servers: address → { weight } }. */
const loadBalancers = new Map();
/** Work that takes its time: record id → how many calls it has seen. */
const begun = new Map();

const succ = (more = {}) => ({ status: "Succ", msg: "", ...more });
const fail = (msg) => ({ status: "Fail", msg });

/** Running for the first calls of a record, then done. */
function takesTime(recordID, what, done) {
  const calls = (begun.get(recordID) ?? 0) + 1;
  begun.set(recordID, calls);
  if (calls <= slowCalls) return { status: "Running", msg: `${what}, call ${calls}`, minRetryDelayInSeconds: 1 };
  begun.delete(recordID);
  return done();
}

const hooks = {
  validateLoadBalancer({ lbSpec }) {
    if (!lbSpec?.id) return { succ: false, msg: "lbSpec.id is missing: name the toy load balancer" };
    return { succ: true, msg: "" };
  },

  createLoadBalancer({ recordID, lbSpec, attributes }) {
    const { id } = lbSpec;
    if (loadBalancers.has(id)) return succ({ lbInfo: { id } });
    return takesTime(recordID, `making ${id}`, () => {
      loadBalancers.set(id, { attributes: attributes ?? {}, servers: new Map() });
      return succ({ lbInfo: { id } });
    });
  },

  ensureLoadBalancer({ lbInfo, attributes }) {
    const lb = loadBalancers.get(lbInfo?.id);
    if (lb === undefined) return fail(`there is no load balancer ${lbInfo?.id}`);
    lb.attributes = attributes ?? {};
    return succ();
  },

  /** One that is gone is deleted. */
  deleteLoadBalancer({ lbInfo }) {
    loadBalancers.delete(lbInfo?.id);
    return succ();
  },

  validateBackend({ parameters }) {
    const weight = Number(parameters?.weight ?? 1);
    const isRight = Number.isInteger(weight) && weight >= 0 && weight <= 100;
    return { succ: isRight, msg: isRight ? "" : `parameters.weight is ${parameters.weight}: write 0 to 100` };
  },

  generateBackendAddr({ podBackend, serviceBackend }) {
    if (podBackend) return succ({ backendAddr: `${podBackend.pod.status.podIP}:${podBackend.port.port}` });
    const { service, port: wanted, nodeAddresses } = serviceBackend;
    const { nodePort } = service.spec.ports.find((each) => each.port === wanted.port);
    const { address } = nodeAddresses.find((each) => each.type === "InternalIP");
    return succ({ backendAddr: `${address}:${nodePort}` });
  },

  /** One that is there already only gets its weight. */
  ensureBackend({ recordID, lbInfo, backendAddr, parameters }) {
    const lb = loadBalancers.get(lbInfo?.id);
    if (lb === undefined) return fail(`there is no load balancer ${lbInfo?.id}`);
    const server = { weight: Number(parameters?.weight ?? 1) };
    const register = () => {
      lb.servers.set(backendAddr, server);
      return succ({ injectedInfo: { registeredBy: "toy-driver" } });
    };
    return lb.servers.has(backendAddr) ? register() : takesTime(recordID, `registering ${backendAddr}`, register);
  },

  /** One that is not there is deregistered. */
  deregisterBackend({ lbInfo, backendAddr }) {
    loadBalancers.get(lbInfo?.id)?.servers.delete(backendAddr);
    return succ({ injectedInfo: {} });
  },

  /** Pods that are being upgraded in place stay in the load balancer although they are not ready. */
  judgePodDeregister({ notReadyPods }) {
    const isUpgrading = (pod) => pod.metadata.annotations?.["toy.example.com/upgrading"] === "true";
    return { succ: true, msg: "", doNotDeregister: notReadyPods.filter(isUpgrading) };
  },

  healthz() {
    return { healthy: true };
  },
};

function table() {
  return Object.fromEntries(
    [...loadBalancers].map(([id, { attributes, servers }]) => [
      id,
      { attributes, servers: Object.fromEntries(servers) },
    ]),
  );
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? {} : JSON.parse(text);
}

const server = createServer(async (request, response) => {
  const name = request.url.split("?")[0].slice(1);
  const answer = (code, body) => {
    response.writeHead(code, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
  };
  try {
    const body = await bodyOf(request);
    if (request.method === "GET" && name === "servers") answer(200, table());
    else if (request.method === "POST" && name in hooks) {
      const said = hooks[name](body);
      if (name !== "healthz") console.log(`${name}: ${JSON.stringify(said).slice(0, 120)}`);
      answer(200, said);
    } else answer(404, { error: `there is no ${request.method} /${name}` });
  } catch (error) {
    answer(500, { error: String(error) });
  }
});

server.listen(port, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
