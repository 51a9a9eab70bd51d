/** The switches of a sandbox: break something, and watch it heal. A controller in a cluster has none. */
import { useState } from "preact/hooks";

import { post, useView } from "./client.ts";

interface Switch {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
}

const PATH = "api/v1/sandbox/switches";

export function Sandbox() {
  const { view } = useView<{ items: readonly Switch[] }>(PATH, 0);
  const [told, setTold] = useState("");
  if (view === undefined || view.items.length === 0) return null;
  const flip = (name: string): void => {
    post<{ told: string }>(PATH, { name }).then(
      (answer) => setTold(answer.told),
      (error: unknown) => setTold(String(error)),
    );
  };
  return (
    <section aria-label="Sandbox" class="sandbox">
      <h2>Break something, watch it heal</h2>
      <div class="switches">
        {view.items.map(({ name, label, hint }) => (
          <button key={name} type="button" title={hint} onClick={() => flip(name)}>
            {label}
          </button>
        ))}
      </div>
      <p class="quiet small" role="status">
        {told}
      </p>
    </section>
  );
}
