/** The package as it is shipped, installed on a machine with systemd: its service, under its own unit, under a domain. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { native, writePackage } from "./support/debian-package.ts";
import { makePdf } from "./support/documents.ts";
import { eventually } from "./support/eventually.ts";
import { executablePath } from "./support/executable.ts";
import { findLowPort } from "./support/free-port.ts";
import { type Pebble, startPebble } from "./support/pebble.ts";
import { bootSystemdMachine, type SystemdMachine } from "./support/systemd-machine.ts";

const domain = "chat.example.com";
const envFile = "/etc/companiond/companiond.env";
const authority = "/usr/local/share/ca-certificates/authority.crt";
const log = "/run/companiond.log";
const edits = "/etc/systemd/system/companiond.service.d";
const programs = ["/usr/bin/pebble", "/usr/lib/systemd/systemd"];

const booted = programs.every(existsSync) ? await bootSystemdMachine() : `there is no ${programs.join(" or no ")}`;
if (typeof booted === "string") console.log(`The service is not tried under its unit: ${booted}.`);

describe.skipIf(typeof booted === "string")("on a machine with systemd", () => {
  const machine = booted as SystemdMachine;
  const [httpsPort, httpPort] = [findLowPort(), findLowPort()];
  const settings = [
    "COMPANIOND_DATA_DIR=/var/lib/companiond",
    `COMPANIOND_DOMAIN=${domain}`,
    `COMPANIOND_HTTPS_PORT=${httpsPort}`,
    `COMPANIOND_HTTP_PORT=${httpPort}`,
    "OPENAI_API_KEY=sk-test",
    "OPENAI_BASE_URL=http://127.0.0.1:9/v1",
  ];
  let pebble: Pebble;

  beforeAll(async () => {
    pebble = await startPebble();
    pebble.answer(async (token) => {
      const response = await fetch(`http://127.0.0.1:${httpPort}/.well-known/acme-challenge/${token}`);
      return response.ok ? await response.text() : null;
    });
    settings.push(`COMPANIOND_ACME_DIRECTORY=${pebble.directory}`);
    machine.write("/etc/hosts", `127.0.0.1 localhost ${domain}\n`);
    machine.write(authority, readFileSync(join(import.meta.dir, "fixtures/tls/one.cert.pem")));
    machine.write(envFile, settings.join("\n"));
    // What tests need, and nothing that loosens the unit: signs of life come more often than systemd waits for them.
    const environment = `NODE_EXTRA_CA_CERTS=${authority} WATCHDOG_USEC=200000`;
    edit("test", `StandardOutput=append:${log}`, `Environment=${environment}`);
    const there = { file: (name: string) => machine.file(`/tmp/${name}`) };
    const file = await writePackage(there, "0.0.1", native, readFileSync(executablePath));
    // Triggers are other packages': an index of all manual pages takes longer than the rest.
    const install = [
      "dpkg",
      "--force-confold",
      "--force-unsafe-io",
      "--no-triggers",
      "--install",
      `/tmp/${basename(file)}`,
    ];
    expect(await machine.run(...install)).toMatchObject({ exitCode: 0 });
  });
  afterAll(async () => {
    await machine[Symbol.asyncDispose]();
    await pebble[Symbol.asyncDispose]();
  });

  /** As `systemctl edit` does. */
  function edit(name: string, ...lines: string[]): void {
    machine.write(`${edits}/${name}.conf`, ["[Service]", ...lines, ""].join("\n"));
  }
  const systemctl = async (...words: string[]) => (await machine.run("systemctl", ...words)).exitCode;
  const show = (...properties: string[]) => machine.show("companiond", ...properties);
  const companiond = async (...words: string[]) => {
    const { stdout, stderr } = await machine.run("companiond", ...words, "--json", "--env-file", envFile);
    return JSON.parse(stdout === "" ? `"${stderr}"` : stdout);
  };
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`https://127.0.0.1:${httpsPort}${path}`, {
      ...init,
      headers: { host: domain, ...init.headers },
      tls: { rejectUnauthorized: false },
    });
  const events = () =>
    readFileSync(machine.file(log), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  const findDocuments = async () =>
    (await companiond("doctor")).checks.find((one: { name: string }) => one.name === "documents");

  test("the package starts its service, which obtains a certificate and serves the domain", async () => {
    expect(await show("ActiveState", "UnitFileState", "NRestarts", "StatusText")).toMatchObject({
      ActiveState: "active",
      UnitFileState: "enabled",
      NRestarts: "0",
      StatusText: `Serving https://${domain}:${httpsPort}, 0 open replies`,
    });
    await eventually(
      () =>
        ask("/readyz").then(
          ({ ok }) => ok,
          () => false,
        ),
      { what: "HTTPS" },
    );
    expect(events().filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  test("it runs as its own user, with the right to the ports alone, behind a filter, and writes where its data is", async () => {
    const { MainPID } = await show("MainPID");
    const status = readFileSync(machine.file(`/proc/${MainPID}/status`), "utf8");
    const read = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1];
    const { stdout: user } = await machine.run("id", "--user", "companiond");
    expect(["Uid", "CapBnd", "NoNewPrivs", "Seccomp"].map(read)).toEqual([user.trim(), "0000000000000400", "1", "2"]);
    const mounts = readFileSync(machine.file(`/proc/${MainPID}/mounts`), "utf8");
    const isWritable = (path: string) => new RegExp(`^\\S+ ${path} \\S+ rw,`, "m").test(mounts);
    expect(["/", "/usr", "/etc", "/var/lib/companiond"].filter(isWritable)).toEqual(["/var/lib/companiond"]);
  });

  test("systemd gets its signs of life, and can have it reload", async () => {
    const { WatchdogTimestampMonotonic: first } = await show("WatchdogTimestampMonotonic");
    await eventually(async () => (await show("WatchdogTimestampMonotonic"))["WatchdogTimestampMonotonic"] !== first);
    expect(await systemctl("reload", "companiond")).toBe(0);
    expect(await show("ActiveState", "NRestarts")).toMatchObject({ ActiveState: "active", NRestarts: "0" });
  });

  test("it reads a document, in a process without network and files", async () => {
    expect(await findDocuments()).toMatchObject({
      status: "ok",
      detail: "They are read in a process without network and files.",
    });
    await companiond("account", "create", "--email", "ada@example.com");
    const scopes = "companions:write,knowledge:read,knowledge:write";
    const { key } = await companiond(
      "key",
      "create",
      "--account",
      "ada@example.com",
      "--name",
      "k",
      "--scopes",
      scopes,
    );
    const call = async (path: string, body: string | FormData | null = null, headers = {}) => {
      const sent = {
        method: body === null ? "GET" : "POST",
        body,
        headers: { authorization: `Bearer ${key}`, ...headers },
      };
      const answer = await ask(`/api/companions${path}`, sent);
      return (await answer.json()) as { id: string; status: string };
    };
    const { id } = await call("", '{"name":"Ada"}', { "content-type": "application/json" });
    const form = new FormData();
    form.append("file", new File([makePdf([[["Words of a page", 10]]])], "a.pdf"));
    const source = await call(`/${id}/sources`, form);
    const isRead = async () => (await call(`/${id}/sources/${source.id}`)).status === "ready";
    await eventually(isRead, { what: "the document" });
    // The unit lets that process come last; this page takes a second.
    form.set("file", new File(["<div>".repeat(1_000_000)], "a.html"));
    await call(`/${id}/sources`, form);
    const look =
      'for p in $(pgrep -f "companiond read-document"); do cat /proc/$p/oom_score_adj; ps -o nice= -p $p; done';
    const comesLast = async () => /^1000\s+10\s/.test((await machine.run("sh", "-c", look)).stdout);
    await eventually(comesLast, { what: "the process that reads" });
  });

  test("it starts where a unit refuses more, and says that documents are read without confinement, and why", async () => {
    edit("narrow", "RestrictAddressFamilies=~AF_NETLINK", "SystemCallFilter=~seccomp");
    await systemctl("daemon-reload");
    expect(await systemctl("restart", "companiond")).toBe(0);
    const warned = "documents are read in processes without confinement";
    await eventually(() => events().some(({ event }) => event === warned), { what: "the warning" });
    expect(await findDocuments()).toMatchObject({
      status: "warn",
      detail: expect.stringContaining("the filter of system calls that the server runs under does not allow seccomp"),
      advice: expect.stringContaining("SystemCallFilter=seccomp"),
    });
    rmSync(machine.file(`${edits}/narrow.conf`));
    await systemctl("daemon-reload");
  });

  test("what may pass is tried again for as long as it takes, and a wrong setting is not", async () => {
    expect(await systemctl("stop", "companiond")).toBe(0);
    expect(await show("Result", "ExecMainStatus")).toMatchObject({ Result: "success", ExecMainStatus: "0" });
    expect(await show("RestartUSec", "StartLimitIntervalUSec")).toMatchObject({
      ...{ RestartUSec: "5s", StartLimitIntervalUSec: "0" },
    });
    // Long enough to be seen waiting.
    edit("waits", "RestartSec=1h");
    await systemctl("daemon-reload");
    const other = Bun.listen({ hostname: "::", port: httpsPort, socket: { data() {} } });
    expect(await systemctl("start", "companiond")).not.toBe(0);
    expect(await show("SubState", "ExecMainStatus")).toMatchObject({ SubState: "auto-restart", ExecMainStatus: "1" });
    other.stop(true);
    machine.write(envFile, `${settings.join("\n")}\nCOMPANIOND_DOMIAN=x\n`);
    expect(await systemctl("restart", "companiond")).not.toBe(0);
    expect(await show("SubState", "ExecMainStatus")).toMatchObject({ SubState: "failed", ExecMainStatus: "2" });
  });
});
