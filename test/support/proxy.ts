/** A reverse proxy in front of a test server, with the configuration that is shipped for operators. */
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { findFreePort } from "./free-port.ts";
import { temporaryDirectory } from "./temporary.ts";

const root = join(import.meta.dir, "../..");
const fixtures = join(root, "test/fixtures/tls");

export interface RunningProxy extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  /** Its output, for failing tests. */
  output(): string;
}

/** The text with every replacement made; each text to replace must be in it. */
function adapt(file: string, replacements: readonly (readonly [string, string])[]): string {
  let text = readFileSync(join(root, "deploy", file), "utf8");
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`deploy/${file} does not hold ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

export function startNginx(upstreamPort: number): Promise<RunningProxy> {
  const dir = temporaryDirectory();
  return startSite("nginx.conf", dir, [
    ["127.0.0.1:3000", `127.0.0.1:${upstreamPort}`],
    ["/run/companiond-pause.sock", dir.file("pause.sock")],
    ["/etc/letsencrypt/live/chat.example.com/fullchain.pem", join(fixtures, "one.cert.pem")],
    ["/etc/letsencrypt/live/chat.example.com/privkey.pem", join(fixtures, "one.key.pem")],
  ]);
}

/** In front of three instances on these ports of 127.0.0.1. */
export function startClusterNginx(upstreamPorts: readonly [number, number, number]): Promise<RunningProxy> {
  return startSite("cluster/nginx.conf", temporaryDirectory(), [
    ...upstreamPorts.map((port, index) => [`companiond-${index + 1}:3000`, `127.0.0.1:${port}`] as const),
    ["/etc/nginx/certificates/fullchain.pem", join(fixtures, "one.cert.pem")],
    ["/etc/nginx/certificates/privkey.pem", join(fixtures, "one.key.pem")],
  ]);
}

async function startSite(
  file: string,
  dir: ReturnType<typeof temporaryDirectory>,
  replacements: readonly (readonly [string, string])[],
): Promise<RunningProxy> {
  const port = findFreePort();
  const listening = [
    ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
    ["listen [::]:443 ssl", `listen [::1]:${port} ssl`],
  ] as const;
  const site = adapt(file, [...replacements, ...listening]).replace(/^.*\[::1\].*$/m, "");
  writeFileSync(dir.file("site.conf"), site);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${dir.file(name)};`,
  );
  writeFileSync(
    dir.file("nginx.conf"),
    `${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${dir.file("pid")}; error_log stderr warn;
    events {} http { access_log off; ${temporary.join(" ")} include ${dir.file("site.conf")}; }`,
  );
  return await start(["/usr/sbin/nginx", "-e", "stderr", "-c", dir.file("nginx.conf")], {}, port, dir);
}

export async function startCaddy(upstreamPort: number): Promise<RunningProxy> {
  const dir = temporaryDirectory();
  const port = findFreePort();
  // Only the certificate differs: fetching one needs a name and the internet.
  const site = adapt("Caddyfile", [
    [
      "{$DOMAIN:localhost} {",
      `https://localhost:${port}, https://127.0.0.1:${port} {\n\ttls ${fixtures}/one.cert.pem ${fixtures}/one.key.pem`,
    ],
  ]);
  writeFileSync(dir.file("Caddyfile"), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  const environment = { UPSTREAM: `127.0.0.1:${upstreamPort}`, HOME: dir.path };
  return await start(
    ["/usr/bin/caddy", "run", "--adapter", "caddyfile", "--config", dir.file("Caddyfile")],
    environment,
    port,
    dir,
  );
}

async function start(
  command: string[],
  env: Record<string, string>,
  port: number,
  dir: ReturnType<typeof temporaryDirectory>,
): Promise<RunningProxy> {
  const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  let output = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stderr) output += decoder.decode(bytes, { stream: true });
  })();
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${output}`);
    return await isListening(port);
  });
  return {
    url: `https://127.0.0.1:${port}`,
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      dir[Symbol.dispose]();
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
