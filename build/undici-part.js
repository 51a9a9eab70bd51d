/**
 * The part of undici that the transports use. The package's own entry loads all of it at once (fetch, WebSockets, caches, mocks):
 * two thirds of its code, and megabytes of memory in a process that needs none of them. `slim-modules.ts` puts this in its place.
 */
import request from "undici/lib/api/api-request.js";
import errors from "undici/lib/core/errors.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";

Object.assign(Dispatcher.prototype, { request });

/** As the package has it, for callers that bring their dispatcher. */
function requestThrough(url, { dispatcher, ...options }) {
  const { origin, pathname, search } = new URL(url);
  return dispatcher.request({ ...options, origin, path: `${pathname}${search}` });
}

export { Agent, EnvHttpProxyAgent, errors, ProxyAgent, requestThrough as request };
