/** What the gate knows of its tests, and what it says before it changes the machine. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { onEachEngine } from "../../scripts/engine-tests.ts";
import { installMissing, type Machine } from "../../scripts/system-packages.ts";
import {
  findTestFiles,
  isParallel,
  isQuick,
  missingPrograms,
  type SystemProgram,
  uninstalledPrograms,
} from "../../scripts/test-files.ts";

const root = join(import.meta.dir, "../..");
const files = new Map(findTestFiles().map((file) => [file.path, file]));

test.each([
  ["test/web/pages.test.ts", ["chromium-headless-shell"], true, false],
  ["test/ops/deploy.test.ts", ["prometheus", "systemd", "postgresql-15", "redis-server"], false, false],
  ["test/executable-chat.test.ts", [], true, false],
  ["test/ops/executable-targets.test.ts", ["openssl"], true, false],
  ["test/support/postgres-server.test.ts", ["postgresql-15"], false, true],
  ["test/executable-cluster.test.ts", ["nginx", "postgresql-15", "redis-server"], true, false],
  ["test/cli/shell-completion.test.ts", ["zsh", "fish"], false, true],
  ["test/http/sse.test.ts", [], false, true],
  ["test/scripts/gate.test.ts", [], false, true],
])("%s needs %j", (path, packages, needsExecutable, isBesideOthers) => {
  const file = files.get(path);
  expect(file?.programs.map((program) => program.package)).toEqual(packages);
  expect(file?.needsExecutable).toBe(needsExecutable);
  expect(file && isQuick(file)).toBe(packages.length === 0 && !needsExecutable);
  expect(file && isParallel(file)).toBe(isBesideOthers);
});

test.each([
  ["test/api/chat.test.ts", true],
  ["test/cli/key.test.ts", true],
  ["test/voice/voice-token.test.ts", false],
  ["test/ops/backup.test.ts", false],
  ["test/http/sse.test.ts", false],
  ["test/store/sqlite.test.ts", false],
])("%s runs on each storage engine: %j", (path, isOnEachEngine) => {
  expect(files.get(path)?.isOnEachEngine).toBe(isOnEachEngine);
});

test.each([
  ["test/store/sqlite-writer.test.ts", true],
  ["test/limits/memory.test.ts", true],
  ["test/turns/random-turns.test.ts", true],
  ["test/voice/webhook-floods.test.ts", true],
  ["test/api/chat.test.ts", false],
  ["test/lib/http/client.test.ts", false],
])("%s has a process of its own: %j", (path, isAlone) => {
  expect(files.get(path)?.isAlone).toBe(isAlone);
});

test("each of the store's contracts meets PostgreSQL in whole requests as well", () => {
  const contracts = readdirSync(join(root, "test/contracts")).flatMap(
    (name) => /^store-(.+)\.ts$/.exec(name)?.[1] ?? [],
  );
  const met = Object.values(onEachEngine).flatMap((test) => test.contracts ?? []);
  expect(met.sort()).toEqual(contracts.sort());
});

test.each(Object.keys(onEachEngine))("%s is there, and takes its engine from the environment", (path) => {
  expect(files.get(path)).toMatchObject({ isOnEachEngine: true, needsExecutable: false });
  // One that stops a server has its own.
  expect(files.get(path)?.programs.filter(({ isServer }) => isServer !== true)).toEqual([]);
});

test("what runs the tools for the API document is neither quick nor left to full", () => {
  const withTools = [...files.values()].filter((file) => file.needsApiTools);
  expect(withTools.map((file) => file.path)).toEqual([
    "test/docs/generated-clients.test.ts",
    "test/docs/linters.test.ts",
  ]);
  for (const file of withTools)
    expect([isQuick(file), isParallel(file), file.isFullOnly]).toEqual([false, true, false]);
});

// At paths of their own: this file would be taken to need what it names.
const missing: SystemProgram[] = [
  { package: "nginx", path: "/opt/nginx", purpose: "streams through a proxy" },
  { package: "caddy", path: "/opt/caddy", purpose: "streams through a proxy" },
];

test("installs what tests cost less with, and runs them without it where something else does", () => {
  const shell = { package: "shell", path: "/opt/shell", substitute: import.meta.path, purpose: "pages" };
  const [file] = [...files.values()].map((file) => ({ ...file, programs: [...missing, shell] }));
  if (file === undefined) throw new Error("there is no test file");
  expect(uninstalledPrograms([file])).toEqual([...missing, shell]);
  expect(missingPrograms([file])).toEqual(missing);
});

function machineThat(canInstall: boolean): Machine & { events: string[] } {
  const events: string[] = [];
  return {
    canInstall,
    events,
    say: (line) => void events.push(`says ${line}`),
    run: async (command) => {
      events.push(`runs ${command.join(" ")}`);
      return 0;
    },
  };
}

test("only what all tests share is missed by the tests on PostgreSQL", () => {
  const servers = [...files.values()].flatMap(({ programs }) => programs).filter(({ isServer }) => isServer);
  expect([...new Set(servers.map((program) => program.package))].sort()).toEqual(["postgresql-15", "redis-server"]);
});

test("says which packages it installs and why before it does, and how to leave them", async () => {
  const machine = machineThat(true);
  await installMissing(missing, machine);
  const firstRun = machine.events.findIndex((event) => event.startsWith("runs "));
  const said = machine.events.slice(0, firstRun).join("\n");
  for (const part of ["nginx (/opt/nginx): streams through a proxy", "caddy", "--no-system-packages"]) {
    expect(said).toContain(part);
  }
  expect(machine.events.filter((event) => event.startsWith("runs "))).toEqual([
    "runs apt-get update",
    "runs apt-get install -y --no-install-recommends nginx caddy",
  ]);
});

test("installs nothing where it cannot, and says the one command that does", async () => {
  const machine = machineThat(false);
  await installMissing(missing, machine);
  expect(machine.events.join("\n")).not.toContain("runs ");
  expect(machine.events).toContain(
    "says Install them with: sudo apt-get install -y --no-install-recommends nginx caddy",
  );
});

test("says nothing where nothing is missing", async () => {
  const machine = machineThat(true);
  await installMissing([], machine);
  expect(machine.events).toEqual([]);
});
