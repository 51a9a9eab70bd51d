/** A headless Chromium with one page, driven over its DevTools protocol: runs scripts in it, and notes what goes wrong there. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"];
const START_WITHIN_MS = 60_000;

/** `CHROMIUM` names another; `undefined`: there is none. */
export function findBrowser(): string | undefined {
  const named = process.env["CHROMIUM"];
  return [...(named === undefined ? [] : [named]), ...PLACES].find((path) => existsSync(path));
}

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly isDark?: boolean;
}

const KEY_CODES: Readonly<Record<string, number>> = { Tab: 9, Escape: 27, ArrowDown: 40, ArrowUp: 38 };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export class Browser {
  /** Exceptions, errors of the console, and loads that failed. */
  readonly problems: string[] = [];
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #sent = 0;

  private constructor(browser: ChildProcess, folder: string, socket: WebSocket) {
    this.#process = browser;
    this.#folder = folder;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data)) as Message));
  }

  static async open(program: string, url: string): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), "azlb-browser-"));
    const child = spawn(program, [...FLAGS, `--user-data-dir=${folder}`, "about:blank"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const debuggerUrl = await addressOf(child);
    const pages = (await (await fetch(`http://${new URL(debuggerUrl).host}/json/list`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket(pages.find(({ type }) => type === "page")?.webSocketDebuggerUrl ?? debuggerUrl);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", reject, { once: true });
    });
    const browser = new Browser(child, folder, socket);
    for (const domain of ["Runtime", "Log", "Page"]) await browser.#send(`${domain}.enable`);
    await browser.#send("Page.navigate", { url });
    return browser;
  }

  /** The value of an expression in the page. */
  async run<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: Value }).value;
  }

  /** Looks like a screen of that size and that choice of colours. */
  async look({ width, height, isDark = false }: Screen): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
    await this.#send("Emulation.setDeviceMetricsOverride", metrics);
    const scheme = { name: "prefers-color-scheme", value: isDark ? "dark" : "light" };
    await this.#send("Emulation.setEmulatedMedia", { features: [scheme] });
  }

  /** PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(String(data), "base64");
  }

  /** As a person presses it. */
  async press(key: string): Promise<void> {
    const [code, text] = key === "Enter" ? [13, "\r"] : key === "/" ? [191, "/"] : [0, undefined];
    const down = { type: "keyDown", key, windowsVirtualKeyCode: code || KEY_CODES[key], ...(text && { text }) };
    await this.#send("Input.dispatchKeyEvent", down);
    await this.#send("Input.dispatchKeyEvent", { ...down, type: "keyUp" });
  }

  /** Bytes of the page's heap, after what is not needed is gone. */
  async heapBytes(): Promise<number> {
    await this.#send("HeapProfiler.collectGarbage");
    const { usedSize } = await this.#send("Runtime.getHeapUsage");
    return Number(usedSize);
  }

  async close(): Promise<void> {
    this.#socket.close();
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  #send(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#sent;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result ?? {}) : reject(new Error(`${method}: ${error.message}`)),
      );
    });
  }

  #receive(message: Message): void {
    if (message.id !== undefined) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
      return;
    }
    const { method = "", params } = message;
    const isError = (params as { entry?: { level?: string }; type?: string } | undefined)?.entry?.level === "error";
    const isCall = method === "Runtime.consoleAPICalled" && (params as { type?: string }).type === "error";
    if (method === "Runtime.exceptionThrown" || (method === "Log.entryAdded" && isError) || isCall)
      this.problems.push(JSON.stringify(params));
  }
}

/** As Chromium prints it. */
function addressOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const late = setTimeout(() => reject(new Error(`the browser does not start: ${text}`)), START_WITHIN_MS);
    stderr?.on("data", (chunk: Buffer) => {
      text += String(chunk);
      const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
  });
}
