/** The control endpoints of the emulated Azure and of the embedded Kubernetes, as far as both are alike: faults. */

export interface FaultRule {
  readonly method?: readonly string[];
  readonly path?: string;
  readonly caller?: string;
  readonly skip?: number;
  /** `null`: every request from then on. */
  readonly count?: number | null;
  readonly effect: { readonly kind: string; readonly [key: string]: unknown };
}

interface ArmedFault {
  readonly id: string;
  readonly hits: number;
}

export class FaultControl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Arms it; its id tells its hits apart. */
  async arm(fault: FaultRule): Promise<string> {
    const armed = (await this.send("POST", "/faults", fault)) as { id: string };
    return armed.id;
  }

  async hits(id: string): Promise<number> {
    const { faults } = (await this.send("GET", "/faults")) as { faults: readonly ArmedFault[] };
    return faults.find((fault) => fault.id === id)?.hits ?? 0;
  }

  async clear(): Promise<void> {
    await this.send("DELETE", "/faults");
  }

  async send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} of the control endpoint: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }
}
