/** The socket at which a running server answers `doctor`: who may ask, and what becomes of it. */
import { afterEach, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, renameSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { askForChecks, askServers } from "../../src/cli/control-socket/ask.ts";
import { type ControlSocket, openControlSocket, removeAbandoned } from "../../src/cli/control-socket/control-socket.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { runCommand } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const facts = {
  protocol: 1,
  version: "0.0.1",
  pid: 4711,
  user: { uid: 999, name: "companiond" },
  uptime_seconds: 3 * 86_400,
  listening: ["http://127.0.0.1:3000"],
  storage: { engine: "embedded" },
  backups: { cron: null, dir: "/backups", keep: 7 },
  settings: [{ name: "OPENAI_API_KEY", source: "env file" }],
};
const finding = {
  name: "language model",
  status: "ok",
  detail: "The server's own model answers.",
  advice: null,
  is_off: true,
};

const opened: ControlSocket[] = [];
afterEach(async () => {
  for (const controlSocket of opened.splice(0)) await controlSocket.close();
});

interface Opened {
  log: ReturnType<typeof createCapturedLog>;
  path: string;
  checks(): number;
  controlSocket: ControlSocket | null;
}

function open(dataDir: string, answer: object = facts, id: string | null = null, hold = Promise.resolve()): Opened {
  const log = createCapturedLog();
  let checks = 0;
  const describe = () => answer;
  const check = async () => {
    checks++;
    await hold;
    return { ...answer, findings: [finding] };
  };
  const controlSocket = openControlSocket({ dataDir, id, log, makeAnswers: async () => ({ describe, check }) });
  if (controlSocket !== null) opened.push(controlSocket);
  const path = join(dataDir, id === null ? "companiond.sock" : `companiond-${id}.sock`);
  return { log, path, controlSocket, checks: () => checks };
}

async function examine(dataDir: string, environment: Record<string, string> = {}): Promise<string> {
  const settings = { COMPANIOND_DATA_DIR: dataDir, PORT: "0", ...environment };
  const { stdout } = await runCommand(["doctor"], { environment: settings });
  return stdout;
}

/** As a server leaves it that is killed: nobody listens any more. */
function abandonSocket(path: string): void {
  const listener = Bun.listen({ unix: `${path}.first`, socket: { data() {} } });
  renameSync(`${path}.first`, path);
  listener.stop(true);
}

test("the socket is its owner's alone whatever the mask, and the mask is left as it was", async () => {
  using dir = temporaryDirectory();
  const before = process.umask(0o022);
  const { path, controlSocket } = open(dir.path);
  expect(process.umask(before)).toBe(0o022);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await controlSocket?.close();
  expect(readdirSync(dir.path)).toEqual([]);
});

test.each([
  ["at the port that the server has", { listening: ["http://0.0.0.0:4321"] }, "http://127.0.0.1:4321"],
  ["at the server's public address", { public_url: "https://chat.example.com" }, "https://chat.example.com"],
])("one-time links lead to the dashboard %s, and not to this command's", async (_, answer, address) => {
  using dir = temporaryDirectory();
  open(dir.path, { ...facts, ...answer });
  const environment = { COMPANIOND_DATA_DIR: dir.path, PORT: "3999" };
  await runCommand(["account", "create", "--email", "op@shop.example"], { environment });
  for (const [words, page] of [
    [["setup-link"], "setup"],
    [["reset-link", "op@shop.example"], "reset"],
  ] as const) {
    const { exitCode, stdout, stderr } = await runCommand(["account", ...words], { environment });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith(`${address}/app/${page}#`);
    expect(stdout.split("\n")).toHaveLength(3);
  }
});

test("doctor reports what the server runs with, and not its own settings", async () => {
  using dir = temporaryDirectory();
  open(dir.path);
  const report = await examine(dir.path, { COMPANIOND_BACKUP_CRON: "0 3 * * *" });
  expect(report).toContain("The server's own model answers.");
  expect(report).toContain("These settings are given: OPENAI_API_KEY (env file).");
  expect(report).toContain("No backups are scheduled.");
  expect(report).not.toContain("built-in demo");
});

test("doctor asks the server even where its own settings are wrong", async () => {
  using dir = temporaryDirectory();
  open(dir.path);
  const report = await examine(dir.path, { COMPANIOND_RATE_PER_IPS: "5" });
  expect(report).toContain("The server's own model answers.");
  expect(report).not.toContain("COMPANIOND_RATE_PER_IPS");
});

test("doctor says who runs and for how long, and warns of one that is stopping", async () => {
  using dir = temporaryDirectory();
  const { controlSocket } = open(dir.path, { ...facts, version });
  const who = `companiond ${version} is running: pid 4711, user companiond, up 3 days.`;
  expect(await examine(dir.path)).toStartWith(`ok    server           ${who} This report is of what it runs with.\n`);
  await controlSocket?.close();
  open(dir.path, { ...facts, version, is_draining: true, open_replies: 2 });
  expect(await examine(dir.path)).toStartWith(`warn  server           ${who} It is stopping; 2 replies are open.\n`);
});

test("doctor warns of a server of another version, and says which of the two to replace", async () => {
  using dir = temporaryDirectory();
  const { controlSocket } = open(dir.path);
  const who = (other: string) => `The running server is version ${other}, this command is ${version}.`;
  const older = await examine(dir.path);
  expect(older).toStartWith(`warn  server           ${who("0.0.1")} It has pid 4711, and user companiond.\n`);
  expect(older).toContain(`Restart the service to run ${version} (systemctl restart companiond)`);
  await controlSocket?.close();
  open(dir.path, { ...facts, version: "99.0.0" });
  const newer = await examine(dir.path);
  expect(newer).toContain(who("99.0.0"));
  expect(newer).toContain("This command is an older executable: use the one that the server runs");
});

test("a server of another version that speaks another form, or cannot check, is named as that", async () => {
  const answer = async (respond: (path: string) => Response): Promise<string> => {
    using dir = temporaryDirectory();
    using _other = Bun.serve({ unix: dir.file("companiond.sock"), fetch: ({ url }) => respond(new URL(url).pathname) });
    return await examine(dir.path);
  };
  const who = (other: string) => `The running server is version ${other}, this command is ${version}.`;
  const apart = "They do not understand each other.";
  // As a controlSocket of this version answers one that is to come.
  const newer = await answer(() => Response.json({ protocol: 2, version: "99.0.0" }, { status: 404 }));
  expect(newer).toStartWith(`fail  server           ${who("99.0.0")} ${apart}\n`);
  expect(newer).toContain("This command is an older executable");
  const older = await answer(() => Response.json({ protocol: 0, version: "0.0.1" }));
  expect(older).toStartWith(`fail  server           ${who("0.0.1")} ${apart}\n`);
  expect(older).toContain("Restart the service to run");
  const unable = await answer((path) =>
    path === "/1/facts" ? Response.json(facts) : new Response("", { status: 404 }),
  );
  expect(unable).toMatch(/^warn {2}server +That version cannot check what it runs with\.$/m);
  expect(unable).not.toContain("Check its log");
  const page = await answer(() => new Response("<html>"));
  expect(page).toContain(`does not answer as companiond ${version} does: it is another version, or another program.`);
});

test("doctor says that no server runs, and that it reports the settings of the command", async () => {
  using dir = temporaryDirectory();
  const report = await examine(dir.path);
  expect(report).toContain(`None is running in ${dir.path}: this report is of the settings given to this command.`);
  expect(report).toContain("built-in demo");
});

test("a socket that a killed server left is survived by doctor, and replaced by the next server", async () => {
  using dir = temporaryDirectory();
  abandonSocket(dir.file("companiond.sock"));
  expect(await askServers(dir.path)).toEqual({ servers: [], hasAbandoned: true });
  expect(await examine(dir.path)).toContain("One was killed here: its socket is still there.");
  const { log } = open(dir.path);
  expect(log.events).toEqual([]);
  expect((await askServers(dir.path)).servers).toMatchObject([{ kind: "answered", facts: { pid: 4711 } }]);
});

test("a server that does not answer in time is said to run, and nothing is said of its settings", async () => {
  using dir = temporaryDirectory();
  const silent = Bun.listen({ unix: dir.file("companiond.sock"), socket: { data() {} } });
  expect((await askServers(dir.path, 50)).servers).toMatchObject([
    { kind: "unknown", sentence: expect.stringContaining("has not answered within 0.05 s") },
  ]);
  silent.stop(true);
});

test("what answers in another way is no server, and cannot steer the terminal", async () => {
  using dir = temporaryDirectory();
  open(dir.path, { protocol: 2 });
  const report = await examine(dir.path);
  expect(report).toContain(`does not answer as companiond ${version} does`);
  expect(report).not.toContain("language model");
  using other = temporaryDirectory();
  open(other.path, { ...facts, version: "1\u001b[2J\n" });
  expect(await examine(other.path)).not.toContain("\u001b");
});

test("who asks while the server checks shares the answer", async () => {
  using dir = temporaryDirectory();
  const hold = Promise.withResolvers<void>();
  const { path, checks } = open(dir.path, facts, null, hold.promise);
  const first = askForChecks(path);
  await eventually(() => checks() === 1);
  const second = askForChecks(path);
  // Answered after the second question has arrived, since both come one after the other.
  expect((await askServers(dir.path)).servers).toHaveLength(1);
  hold.resolve();
  for (const one of await Promise.all([first, second])) expect(one).toMatchObject({ findings: [finding] });
  expect(checks()).toBe(1);
});

test("nothing else is answered there, and no long question is read", async () => {
  using dir = temporaryDirectory();
  const { path } = open(dir.path);
  const ask = (at: string, init: RequestInit = {}) => fetch(`http://companiond${at}`, { ...init, unix: path });
  for (const at of ["/", "/healthz", "/api/companions", "/1/check", "/2/facts"])
    expect([(await ask(at)).status, await (await ask(at)).json()]).toEqual([404, { protocol: 1, version }]);
  expect((await ask("/1/facts", { method: "POST", body: "x".repeat(2000) })).status).toBe(413);
});

test("a directory with a long name has its socket, too", async () => {
  using dir = temporaryDirectory();
  const dataDir = dir.file("d".repeat(150));
  mkdirSync(dataDir, { mode: 0o700 });
  open(dataDir);
  expect((await askServers(dataDir)).servers).toHaveLength(1);
});

test("where there can be no socket the server goes on without, and says so in the log", () => {
  using dir = temporaryDirectory();
  mkdirSync(dir.file("companiond.sock"));
  const { controlSocket, log } = open(dir.path);
  expect(controlSocket).toBeNull();
  expect(log.events).toMatchObject([
    { level: "warn", event: expect.stringContaining("doctor cannot ask this server") },
  ]);
});

test("servers that share the directory are all asked, and only what is abandoned is removed", async () => {
  using dir = temporaryDirectory();
  open(dir.path, facts, "00000001");
  open(dir.path, { ...facts, pid: 4712 }, "00000002");
  abandonSocket(dir.file("companiond-00000003.sock"));
  abandonSocket(dir.file("companiond-00000004.sock"));
  for (const id of [1, 2, 3]) utimesSync(dir.file(`companiond-0000000${id}.sock`), 0, 0);
  await removeAbandoned(dir.path, Date.now());
  expect(readdirSync(dir.path).sort()).toEqual(
    // The youngest may be of a server that is about to listen.
    ["companiond-00000001.sock", "companiond-00000002.sock", "companiond-00000004.sock"],
  );
  expect(lstatSync(dir.file("companiond-00000001.sock")).isSocket()).toBe(true);
  const report = await examine(dir.path);
  expect(report).toContain("The server's own model answers. (pid 4711)");
  expect(report).toContain("The server's own model answers. (pid 4712)");
});
