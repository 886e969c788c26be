/** A Redis server for tests, as Debian packages it: nothing on disk, a free port on loopback; it dies with the test process. */
import { join } from "node:path";
import { eventually, inTime } from "./eventually.ts";
import { findFreePort } from "./free-port.ts";
import { temporaryDirectory } from "./temporary.ts";

const program = "/usr/bin/redis-server";
const certificates = join(import.meta.dir, "../fixtures/tls");

export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  /** With the password, and `rediss:` if it has TLS. */
  readonly url: string;
  /** Of the process that runs, or ran last. */
  readonly pid: number;
  /** What it has logged so far. */
  log(): string;
  /** It closes its connections and ends. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Again on the same port, and empty, after `stop` or `kill`. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** It takes bytes, but does nothing with them until `thaw`. */
  freeze(): void;
  thaw(): void;
}

export interface RedisServerOptions {
  password?: string;
  /** With the certificate `one` of the fixtures. */
  isTls?: boolean;
  /** Further settings as on its command line: `["--maxmemory", "1mb"]`. */
  settings?: readonly string[];
}

export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { password, isTls = false, settings = [] } = options;
  const directory = temporaryDirectory();
  const port = findFreePort();
  const command = [
    // Also after a SIGKILL of the test process.
    ...["/usr/bin/setpriv", "--pdeathsig", "KILL", program],
    ...["--bind", "127.0.0.1", "--dir", directory.path, "--save", "", "--appendonly", "no"],
    ...(isTls ? tlsSettings(port) : ["--port", String(port)]),
    ...(password === undefined ? [] : ["--requirepass", password]),
    ...settings,
  ];
  let child: ReturnType<typeof spawn> | null = null;
  let pid = 0;
  let output = "";

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === null) return;
    const ending = child;
    child = null;
    // One that is frozen would not react to a SIGTERM.
    ending.kill("SIGCONT");
    ending.kill(signal);
    await inTime(ending.exited, { what: `the end of Redis (${signal})` });
  }

  const server: RedisServer = {
    port,
    url: `${isTls ? "rediss" : "redis"}://${password === undefined ? "" : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    get pid() {
      return pid;
    },
    log: () => output,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    async start() {
      if (child !== null) throw new Error("Redis runs already");
      const started = spawn(command);
      child = started;
      pid = started.pid;
      const before = output.length;
      void (async () => {
        const decoder = new TextDecoder();
        for await (const bytes of started.stdout) output += decoder.decode(bytes, { stream: true });
      })();
      await eventually(() => {
        if (started.exitCode !== null) throw new Error(`Redis ended:\n${output}`);
        return output.includes("Ready to accept connections", before);
      });
    },
    freeze: () => process.kill(pid, "SIGSTOP"),
    thaw: () => process.kill(pid, "SIGCONT"),
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
      directory[Symbol.dispose]();
    },
  };
  await server.start();
  return server;
}

function spawn(command: string[]) {
  return Bun.spawn(command, { env: {}, cwd: "/", stdin: "ignore", stdout: "pipe", stderr: "ignore" });
}

function tlsSettings(port: number): string[] {
  return [
    ...["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"],
    ...["--tls-cert-file", join(certificates, "one.cert.pem"), "--tls-key-file", join(certificates, "one.key.pem")],
  ];
}
