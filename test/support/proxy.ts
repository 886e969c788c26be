/** A reverse proxy in front of a test server, with the configuration that is shipped for operators. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "./free-port.ts";
import { type RunningProxy, runNginx, runProxy } from "./nginx.ts";
import { temporaryDirectory } from "./temporary.ts";

const root = join(import.meta.dir, "../..");
const fixtures = join(root, "test/fixtures/tls");

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
  return await runNginx(`https://127.0.0.1:${port}`, `include ${dir.file("site.conf")};`, dir);
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
  const command = ["/usr/bin/caddy", "run", "--adapter", "caddyfile", "--config", dir.file("Caddyfile")];
  return await runProxy(command, { url: `https://127.0.0.1:${port}`, env: environment, dir });
}
