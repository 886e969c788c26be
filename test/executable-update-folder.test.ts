/** What `companiond update` leaves in the folder of the executable, whatever the system, a signal or another update does. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { eventually } from "./support/eventually.ts";
import { executablePath } from "./support/executable.ts";
import { makeProgram, startReleases } from "./support/releases.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./support/temporary.ts";

const isRoot = process.geteuid?.() === 0;
const asNobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
const releases = startReleases();
let folder: TemporaryDirectory;
let installed: string;

beforeEach(() => {
  folder = temporaryDirectory();
  installed = folder.file("companiond");
  copyFileSync(executablePath, installed);
  releases.publish();
});
afterEach(() => folder[Symbol.dispose]());
afterAll(() => releases.stop());

function update(...enter: string[]) {
  return releases.run([], { program: [...enter, installed] });
}

function names(): string[] {
  return readdirSync(folder.path).sort();
}

/** Is the program of the build, and neither a new one nor a part of one. */
function isOld(name: string): boolean {
  return readFileSync(folder.file(name)).equals(readFileSync(executablePath));
}

test("changes nothing in a folder of somebody else, and leaves nothing of an update that was killed", async () => {
  chmodSync(folder.path, 0o555);
  const stderr = expect.stringContaining(`${folder.path} cannot be written to`);
  expect(await update(...asNobody)).toMatchObject({ exitCode: 1, stderr });
  chmodSync(folder.path, 0o755);
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  writeFileSync(folder.file(`companiond.${ended.pid}.update`), "half");
  expect(await update()).toMatchObject({ exitCode: 0 });
  expect(names()).toEqual(["companiond", "companiond.previous"]);
});

test("a signal ends it at once, and takes along what was downloaded", async () => {
  releases.pages.set(
    "/files/companiond-99.1.0",
    () => new Response(new ReadableStream({ start: (sink) => sink.enqueue(makeProgram("99.1.0")) })),
  );
  const child = releases.start([], { program: [installed] });
  await eventually(() => names().includes(`companiond.${child.pid}.update`));
  child.kill("SIGTERM");
  expect(await child.exited).toBe(143);
  expect(names()).toEqual(["companiond"]);
});

test("of two updates at once, the second leaves what the first has made and kept", async () => {
  // While the second one tries its executable, the first one ends.
  const first = `cd ${folder.path} && mv companiond companiond.previous && cp /bin/true companiond`;
  releases.publish({ body: makeProgram("99.1.0", first) });
  const stderr = expect.stringContaining("was replaced meanwhile");
  expect(await update()).toMatchObject({ exitCode: 1, stderr });
  expect(names()).toEqual(["companiond", "companiond.previous"]);
  expect([isOld("companiond.previous"), readFileSync(installed).equals(readFileSync("/bin/true"))]).toEqual([
    true,
    true,
  ]);
});

test("does not overwrite the executable that an update kept, and says where it cannot keep one", async () => {
  mkdirSync(folder.file("companiond.previous"));
  const stderr = expect.stringContaining("companiond.previous is a directory");
  expect(await update()).toMatchObject({ exitCode: 1, stderr });
  expect([names(), isOld("companiond")]).toEqual([["companiond", "companiond.previous"], true]);

  mkdirSync(folder.file("of its own"));
  const kept = folder.file("of its own/companiond.previous");
  renameSync(installed, kept);
  const refused = await releases.run([], { program: [kept] });
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is what an update kept") });
  expect(isOld("of its own/companiond.previous")).toBe(true);
});

test.skipIf(!isRoot)(
  "keeps a copy where Linux allows no second name, and says what setcap has to give again",
  async () => {
    // The file is root's, and the folder is the user's.
    chmodSync(folder.path, 0o777);
    Bun.spawnSync(["/usr/sbin/setcap", "cap_net_bind_service=ep", installed]);
    const { exitCode, stdout } = await update(...asNobody);
    expect([exitCode, names()]).toEqual([0, ["companiond", "companiond.previous"]]);
    expect(stdout).toContain(`setcap cap_net_bind_service=ep ${installed}\n`);
    expect(isOld("companiond.previous")).toBe(true);
  },
);

test.skipIf(!isRoot)(
  "says that the disk is full or read-only, also where every run has the same process id",
  async () => {
    releases.publish({ body: new Uint8Array(32 * 1024 * 1024) });
    mkdirSync(folder.file("disk"));
    const sizeMiB = Math.ceil(Bun.file(installed).size / 1024 / 1024) + 4;
    const steps = [
      "set -e",
      `mount -t tmpfs -o size=${sizeMiB}m none "$0/disk" && cp "$0/companiond" "$0/disk" && cd "$0/disk"`,
      "echo half > companiond.1.update",
      "(set +e; unshare --pid --fork --mount-proc ./companiond update; ls)",
      'mount -o remount,ro "$0/disk" && exec ./companiond "$@"',
    ];
    const { stdout, stderr } = await releases.run([], {
      program: ["unshare", "--mount", "sh", "-c", steps.join("\n"), folder.path],
    });
    expect(stderr.split("\n")).toEqual([
      `companiond: ${folder.file("disk")} has no room for another executable (ENOSPC). Nothing has changed.`,
      `companiond: ${folder.file("disk")} is on a read-only file system: update the image, or what mounts it.`,
      "",
    ]);
    expect(stdout).toBe("companiond\n");
  },
);
