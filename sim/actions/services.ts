/** Users of the cluster: they apply, change, retype and delete Services, one whole wish at a time. */
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { ClusterSide } from "../environment/simulated-kubernetes.ts";
import type { Shape } from "./service-templates.ts";

const PREFIX = "service.beta.kubernetes.io/";

export class Users {
  readonly #cluster: ClusterSide;
  /** The class that each Service was made with. */
  readonly #classes = new Map<string, string | undefined>();
  /** What each Service was last asked to be, where that was accepted. */
  readonly #shapes = new Map<string, Shape>();

  constructor(cluster: ClusterSide) {
    this.#cluster = cluster;
  }

  /** Creates the Service, or gives the one that is there this shape instead of its former one. */
  apply(service: string, shape: Shape): void {
    const { path, namespace, name } = placeOf(service);
    const annotations = this.#annotationsOf(shape);
    const found = this.#cluster.object("services", service);
    if (found === undefined) {
      const spec = Object.fromEntries(Object.entries(shape.spec).filter(([, value]) => value !== null));
      const body = { metadata: { name, namespace, annotations }, spec };
      if (this.#cluster.send("POST", path.slice(0, path.lastIndexOf("/")), body) === undefined) return;
      this.#shapes.set(service, shape);
      this.#classes.set(service, shape.spec["loadBalancerClass"] as string | undefined);
    } else if (found.metadata.deletionTimestamp === undefined) {
      const former = Object.keys(found.metadata.annotations ?? {}).filter((key) => key.startsWith(PREFIX));
      const gone = Object.fromEntries(former.map((key) => [key, null]));
      const body = {
        metadata: { annotations: { ...gone, ...annotations } },
        spec: this.#specOf(service, shape, found),
      };
      if (this.#cluster.send("PATCH", path, body)) this.#shapes.set(service, shape);
    }
  }

  /** A class cannot be changed; it is lost with the type, and chosen again with it: always the same. */
  #specOf(service: string, { spec }: Shape, { spec: before }: KubeObject): Record<string, unknown> {
    const { loadBalancerClass: _, ...rest } = spec;
    const own = this.#classes.get(service);
    const isChosen = own !== undefined && (before as { type?: string }).type !== "LoadBalancer";
    return { ...rest, ...(isChosen && { loadBalancerClass: own }) };
  }

  /** Does it ask for nothing that could be refused? */
  isPlain(service: string): boolean {
    return this.#classes.get(service) === undefined && (this.#shapes.get(service)?.isPlain ?? false);
  }

  retype(service: string): void {
    this.#cluster.send("PATCH", placeOf(service).path, { spec: { type: "ClusterIP" } });
  }

  delete(service: string): void {
    this.#cluster.send("DELETE", placeOf(service).path);
  }

  #annotationsOf({ annotations }: Shape): Record<string, string> {
    const resolved = Object.entries(annotations).map(([key, value]): [string, string] | undefined => {
      if (!value.startsWith("$ip:")) return [PREFIX + key, value];
      const ip = ingressOf(this.#cluster.object("services", value.slice(4)))[0];
      return ip === undefined || ip.includes(":") ? undefined : [PREFIX + key, ip];
    });
    return Object.fromEntries(resolved.filter((entry) => entry !== undefined));
  }
}

/** The addresses in its status. */
export function ingressOf(service: KubeObject | undefined): string[] {
  const status = service?.["status"] as { loadBalancer?: { ingress?: { ip?: string }[] } } | undefined;
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
}

function placeOf(service: string): { path: string; namespace: string; name: string } {
  const [namespace = "", name = ""] = service.split("/");
  return { path: `/api/v1/namespaces/${namespace}/services/${name}`, namespace, name };
}
