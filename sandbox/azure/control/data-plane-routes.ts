/** The control endpoint's routes of the data plane: frontends and counters, flow log, member table, settings. */
import { BadInput, onlyKeys, parseJson } from "../../shared/input.ts";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { FlowQuery } from "../data-plane/flow-table.ts";
import type { Frontend } from "../data-plane/forwarding.ts";
import { parseMemberTable } from "../data-plane/member-table.ts";
import { jsonReply, type HttpReply, type HttpRequest } from "../server/http-message.ts";
import { wholeNumber } from "./query.ts";

export interface DataPlaneControlled {
  /** `undefined` unless it was started. */
  readonly dataPlane: DataPlane | undefined;
}

type Route = (controlled: DataPlaneControlled, request: HttpRequest) => HttpReply | Promise<HttpReply>;

export const DATA_PLANE_ROUTES: Readonly<Record<string, Route>> = {
  "GET /data-plane": async (controlled, { query }) => {
    const plane = running(controlled);
    return jsonReply(200, { frontends: await plane.frontends(frontendFilter(query)), settings: plane.settings });
  },
  "PATCH /data-plane": (controlled, { text }) => {
    const plane = running(controlled);
    plane.patch(parseJson(text, "data-plane"));
    return jsonReply(200, { settings: plane.settings });
  },
  "GET /members": (controlled) => jsonReply(200, running(controlled).members),
  "POST /members": (controlled, { text }) => {
    const plane = running(controlled);
    plane.mapMembers(parseMemberTable(parseJson(text, "members"), "members"));
    return jsonReply(200, plane.members);
  },
  "GET /flows": (controlled, { query }) =>
    jsonReply(200, { entries: running(controlled).flowTable.entries(flowQuery(query)) }),
  "DELETE /flows": (controlled) => {
    running(controlled).flowTable.clear();
    return { status: 204, headers: {} };
  },
};

function running({ dataPlane }: DataPlaneControlled): DataPlane {
  if (dataPlane !== undefined) return dataPlane;
  throw new BadInput("the data plane is off; start the emulator with --data-plane");
}

function frontendFilter(query: HttpRequest["query"]): (frontend: Frontend) => boolean {
  onlyKeys(query, ["address", "port", "protocol"], "query of /data-plane");
  const { address, protocol } = query;
  const { port } = wholeNumber(query, "port");
  return (frontend) =>
    (address === undefined || frontend.rule.address === address) &&
    (port === undefined || frontend.port === port) &&
    (protocol === undefined || frontend.transport.toLowerCase() === protocol.toLowerCase());
}

function flowQuery(query: HttpRequest["query"]): FlowQuery {
  onlyKeys(query, ["after", "limit", "event", "frontend", "member"], "query of /flows");
  const { event, frontend, member } = query;
  return {
    ...wholeNumber(query, "after"),
    ...wholeNumber(query, "limit"),
    ...(event !== undefined && { event }),
    ...(frontend !== undefined && { frontend }),
    ...(member !== undefined && { member }),
  };
}
