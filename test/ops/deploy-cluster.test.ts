/** The shipped example of several instances: its compose file, and its nginx (/usr/sbin/nginx) in front of stand-ins. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { settings } from "../../src/config/settings.ts";
import type { RunningProxy } from "../support/nginx.ts";
import { startClusterNginx } from "../support/proxy.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = join(import.meta.dir, "../../deploy/cluster");
const text = readFileSync(join(directory, "compose.yaml"), "utf8");
const compose = Object(Bun.YAML.parse(text));
const instances: readonly string[] = Object.keys(compose.services).filter((name) => name.startsWith("companiond-"));
const databaseServers = ["postgres", "redis"];

test("the compose file has three equal instances with time to drain, which differ in their address alone", () => {
  expect(instances).toEqual(["companiond-1", "companiond-2", "companiond-3"]);
  const [one, ...others] = instances.map((name) => compose.services[name]);
  expect(Number.parseInt(one.stop_grace_period, 10)).toBeGreaterThan(30);
  expect(one.environment.COMPANIOND_TRUST_PROXY).toBe("1");
  expect(existsSync(join(directory, one.build.context, one.build.dockerfile))).toBe(true);
  for (const other of others) expect({ ...other, networks: null }).toEqual({ ...one, networks: null });
  const addresses = instances.map((name) => compose.services[name].networks.outside.ipv4_address);
  expect(new Set(addresses).size).toBe(3);
  const [{ subnet }] = compose.networks.outside.ipam.config;
  for (const address of addresses) expect(`${address.replace(/\d+$/, "0")}/24`).toBe(subnet);
});

test("the compose file refers to secrets, networks, volumes and settings that there are", () => {
  const variables = Object.values(settings).flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  for (const service of Object.values<Record<string, unknown>>(compose.services)) {
    const named: string[] = Object(service["secrets"] ?? []);
    for (const secret of named) expect(compose.secrets[secret]).toEqual({ file: `./secrets/${secret}` });
    const networks = Object(service["networks"]);
    for (const network of Array.isArray(networks) ? networks : Object.keys(networks)) {
      expect(Object.keys(compose.networks)).toContain(network);
    }
  }
  for (const [variable, value] of Object.entries(compose.services["companiond-1"].environment)) {
    expect(variables).toContain(variable);
    if (variable.endsWith("_FILE")) {
      const secret = String(value).replace("/run/secrets/", "");
      expect(compose.services["companiond-1"].secrets).toContain(secret);
    }
  }
  for (const secret of Object.keys(compose.secrets)) expect(text).toContain(`> secrets/${secret}`);
  expect(compose.services.nginx.volumes).toContain("./nginx.conf:/etc/nginx/conf.d/default.conf:ro");
});

test("the compose file keeps the database servers to themselves, and no password in it", () => {
  expect(compose.networks.inside.internal).toBe(true);
  for (const name of databaseServers) {
    expect(compose.services[name].networks).toEqual(["inside"]);
    expect(compose.services[name].ports).toBeUndefined();
  }
  expect(compose.services.nginx.networks).toEqual(["outside"]);
  expect(compose.services.postgres.environment.POSTGRES_PASSWORD_FILE).toBe("/run/secrets/database_password");
  for (const ignored of [".gitignore", "deploy/Dockerfile.dockerignore"]) {
    const lines = readFileSync(join(directory, "../..", ignored), "utf8");
    for (const kept of ["secrets", "certificates"]) expect(lines).toContain(`deploy/cluster/${kept}`);
  }
});

test("the commands of the compose file make secrets that the program takes", async () => {
  using dir = temporaryDirectory();
  const commands = text
    .split("\n")
    .filter((line) => /^# {3}.*secrets/.test(line))
    .map((line) => line.slice(1))
    .join("\n");
  const made = Bun.spawnSync(["/bin/sh", "-e", "-c", commands], { cwd: dir.path, env: { PATH: "/usr/bin:/bin" } });
  expect(made.stderr.toString()).toBe("");
  const environment = Object.fromEntries(
    Object.entries<string>(compose.services["companiond-1"].environment)
      .filter(([, value]) => value.startsWith("/run/secrets/"))
      .map(([variable, value]) => [variable, value.replace("/run/secrets", dir.file("secrets"))]),
  );
  const { database, redisUrl } = loadConfig({ environment });
  expect(database?.url).toMatch(/^postgres:\/\/companiond:[0-9a-f]{48}@postgres\/companiond\?sslmode=disable$/);
  expect(redisUrl).toMatch(/^redis:\/\/:[0-9a-f]{48}@redis$/);
});

interface StandIn extends AsyncDisposable {
  readonly port: number;
  readonly requests: string[];
}

function standIn(respond: () => Response | Promise<Response>, port = 0): StandIn {
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    async fetch(request) {
      requests.push(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`);
      return await respond();
    },
  });
  return { port: Number(server.port), requests, [Symbol.asyncDispose]: () => server.stop(true) };
}

function post(proxy: RunningProxy, body: string): Promise<Response> {
  return fetch(`${proxy.url}/chat`, { method: "POST", body, tls: { rejectUnauthorized: false } });
}

const unavailable = () => Response.json({ code: "unavailable" }, { status: 503 });

test("nginx sends a POST to the next instance when one refuses connections or answers 503", async () => {
  await using cutOff = standIn(unavailable);
  await using good = standIn(() => new Response("answered"));
  await using proxy = await startClusterNginx([1, cutOff.port, good.port]);
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const response = await post(proxy, `message ${index}`);
      return `${response.status} ${await response.text()}`;
    }),
  );
  expect(answers).toEqual(Array(30).fill("200 answered"));
  expect(good.requests.toSorted()).toEqual(Array.from({ length: 30 }, (_, n) => `POST /chat message ${n}`).toSorted());
});

test("nginx passes the 503 of companiond on, and makes one of its own when nobody listens", async () => {
  await using one = standIn(unavailable);
  await using other = standIn(unavailable);
  await using third = standIn(unavailable);
  await using proxy = await startClusterNginx([one.port, other.port, third.port]);
  expect([(await post(proxy, "a")).status, (await post(proxy, "b")).status]).toEqual([503, 503]);
  // A port that was free a moment ago may be another test's by now.
  await using gone = await startClusterNginx([1, 2, 3]);
  const response = await post(gone, "c");
  expect([response.status, response.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
  expect([response.headers.get("retry-after"), response.headers.get("access-control-allow-origin")]).toEqual([
    "2",
    "*",
  ]);
  expect(await response.json()).toMatchObject({ code: "unavailable", status: 503, detail: expect.any(String) });
});

test("nginx passes 502 and 429 of companiond on without asking another instance", async () => {
  await using one = standIn(() => Response.json({ code: "upstream_error" }, { status: 502 }));
  await using proxy = await startClusterNginx([one.port, one.port, one.port]);
  const response = await post(proxy, "a");
  expect([response.status, await response.json(), one.requests]).toEqual([
    502,
    { code: "upstream_error" },
    ["POST /chat a"],
  ]);
});

test("nginx keeps to itself where instances speak to one another", async () => {
  await using one = standIn(() => new Response("inside"));
  await using proxy = await startClusterNginx([one.port, one.port, one.port]);
  for (const path of ["/internal/replies", "//internal/replies", "/x/../internal/replies", "/%69nternal/replies"]) {
    const response = await fetch(proxy.url + path, { method: "POST", tls: { rejectUnauthorized: false } });
    expect([path, response.status, await response.text()]).toEqual([path, 404, expect.not.stringContaining("inside")]);
  }
  expect(one.requests).toEqual([]);
});

test("nginx passes streams on as they arrive, and prefers whoever has fewer of them", async () => {
  const ends: (() => void)[] = [];
  const stream = () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    void writer.write(new TextEncoder().encode('data: {"text":"One"}\n\n'));
    ends.push(() => void writer.close());
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  };
  await using one = standIn(stream);
  await using other = standIn(stream);
  await using third = standIn(stream);
  await using proxy = await startClusterNginx([one.port, other.port, third.port]);
  const replies: AsyncIterator<Uint8Array>[] = [];
  for (let count = 0; count < 9; count++) {
    const reply = (await post(proxy, String(count))).body?.[Symbol.asyncIterator]();
    if (reply === undefined) throw new Error("no body");
    replies.push(reply);
    const { value } = await reply.next();
    expect(new TextDecoder().decode(value)).toBe('data: {"text":"One"}\n\n');
  }
  expect([one, other, third].map(({ requests }) => requests.length)).toEqual([3, 3, 3]);
  for (const end of ends) end();
  for (const reply of replies) expect((await reply.next()).done).toBe(true);
});
