/** Users of Services: they apply, change, retype and delete them. What a Service may ask for is `service-templates.ts`. */
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import type { ServiceTemplate } from "./service-templates.ts";

const PREFIX = "service.beta.kubernetes.io/";

export class ServiceUsers {
  readonly #cluster: SimulatedKubernetes;
  /** The class that each Service was created with. */
  readonly #classes = new Map<string, string | undefined>();
  /** The last template of each Service that the API accepted. */
  readonly #shapes = new Map<string, ServiceTemplate>();

  constructor(cluster: SimulatedKubernetes) {
    this.#cluster = cluster;
  }

  /** Creates the Service, or replaces the template of an existing one. */
  apply(service: string, template: ServiceTemplate): void {
    const { path, namespace, name } = pathOf(service);
    const annotations = this.#annotationsOf(template);
    const found = this.#cluster.object("services", service);
    if (found === undefined) {
      const spec = Object.fromEntries(Object.entries(template.spec).filter(([, value]) => value !== null));
      const body = { metadata: { name, namespace, annotations }, spec };
      if (this.#cluster.send("POST", path.slice(0, path.lastIndexOf("/")), body) === undefined) return;
      this.#shapes.set(service, template);
      this.#classes.set(service, template.spec["loadBalancerClass"] as string | undefined);
    } else if (found.metadata.deletionTimestamp === undefined) {
      const former = Object.keys(found.metadata.annotations ?? {}).filter((key) => key.startsWith(PREFIX));
      const gone = Object.fromEntries(former.map((key) => [key, null]));
      const body = {
        metadata: { annotations: { ...gone, ...annotations } },
        spec: this.#specOf(service, template, found),
      };
      if (this.#cluster.send("PATCH", path, body)) this.#shapes.set(service, template);
    }
  }

  /** A class is immutable. It is cleared with the type LoadBalancer, and set again, unchanged, with that type. */
  #specOf(service: string, { spec }: ServiceTemplate, { spec: before }: KubeObject): Record<string, unknown> {
    const { loadBalancerClass: _, ...rest } = spec;
    const originalClass = this.#classes.get(service);
    const setsClass = originalClass !== undefined && (before as { type?: string }).type !== "LoadBalancer";
    return { ...rest, ...(setsClass && { loadBalancerClass: originalClass }) };
  }

  /** Whether it must be served: see `ServiceTemplate.isPlain`. */
  isPlain(service: string): boolean {
    return this.#classes.get(service) === undefined && (this.#shapes.get(service)?.isPlain ?? false);
  }

  retype(service: string): void {
    this.#cluster.send("PATCH", pathOf(service).path, { spec: { type: "ClusterIP" } });
  }

  delete(service: string): void {
    this.#cluster.send("DELETE", pathOf(service).path);
  }

  #annotationsOf({ annotations }: ServiceTemplate): Record<string, string> {
    const resolved = Object.entries(annotations).map(([key, value]): [string, string] | undefined => {
      if (!value.startsWith("$ip:")) return [PREFIX + key, value];
      const ip = ingressOf(this.#cluster.object("services", value.slice(4)))[0];
      return ip === undefined || ip.includes(":") ? undefined : [PREFIX + key, ip];
    });
    return Object.fromEntries(resolved.filter((entry) => entry !== undefined));
  }
}

/** The addresses in the status of a Service. */
export function ingressOf(service: KubeObject | undefined): string[] {
  const status = service?.["status"] as { loadBalancer?: { ingress?: { ip?: string }[] } } | undefined;
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
}

function pathOf(service: string): { path: string; namespace: string; name: string } {
  const [namespace = "", name = ""] = service.split("/");
  return { path: `/api/v1/namespaces/${namespace}/services/${name}`, namespace, name };
}
