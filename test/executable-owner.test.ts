/** Whose the files of a data directory are when root runs commands, and what others are told of files that are not theirs. */
import { expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Finished, runExecutable, startExecutable } from "./support/executable.ts";
import { rightsOf } from "./support/process-rights.ts";
import { temporaryDirectory } from "./support/temporary.ts";

const isRoot = process.geteuid?.() === 0;
/** Needs another user's directory, and the right to become another user. */
const asRoot = test.skipIf(!isRoot);
/** A number that no user of a test machine has. */
const service = 54_321;
const asService = ["/usr/bin/setpriv", `--reuid=${service}`, `--regid=${service}`, "--clear-groups"];

/** A place that other users may enter, with the service's data directory and a directory of root alone. */
function openPlace() {
  const own = temporaryDirectory();
  chmodSync(own.path, 0o755);
  const [data, secret] = [own.file("data"), own.file("secret")];
  for (const path of [data, secret]) mkdirSync(path, { mode: 0o700 });
  chownSync(data, service, service);
  return { data, secret, file: own.file, [Symbol.dispose]: own[Symbol.dispose] };
}

async function run(words: string[], options: Parameters<typeof runExecutable>[1] = {}): Promise<Finished> {
  const done = await runExecutable(words, options);
  expect(done).toMatchObject({ exitCode: 0, stderr: "" });
  return done;
}

/** Every file and directory in it that is not the service's alone. */
function findStrays(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => {
    const { uid, gid, mode } = lstatSync(join(dir, name));
    return uid !== service || gid !== service || (mode & 0o077) !== 0;
  });
}

asRoot(
  "what root makes in the data directory is its owner's, and what root names is read and written as root",
  async () => {
    using place = openPlace();
    const { data, secret } = place;
    const at = ["--data-dir", data];
    await run(["account", "create", "--email", "ada@example.com", ...at]);
    await Bun.write(join(secret, "companions.jsonl"), '{"name":"Ada"}\n{"name":"Bob"}\n');
    await Bun.write(join(secret, "notes.txt"), "Open from nine to five.");
    await Bun.write(join(secret, "settings.env"), "COMPANIOND_LOG=warn\n");
    for (const name of readdirSync(secret)) chmodSync(join(secret, name), 0o600);
    const importing = ["companion", "import", "--account", "ada@example.com", join(secret, "companions.jsonl")];
    await run([...importing, "--env-file", join(secret, "settings.env"), ...at]);
    const listed = await run(["companion", "list", "--account", "ada@example.com", "--json", ...at]);
    const { id } = JSON.parse(listed.stdout)[0];
    // From a directory that its owner may not enter, by a path from there.
    await run(["knowledge", "add", "--companion", id, "notes.txt", ...at], { cwd: secret });

    await run(["backup", join(secret, "copy.db"), ...at]);
    await run(["backup", join(data, "backups/copy.db"), ...at]);
    expect(lstatSync(join(secret, "copy.db"))).toMatchObject({ uid: 0, gid: 0 });
    await run(["restore", join(secret, "copy.db"), ...at]);
    await run(["restore", join(data, "backups/copy.db"), ...at]);
    expect(readdirSync(data).filter((name) => name.includes("before-restore"))).not.toEqual([]);
    expect(findStrays(data)).toEqual([]);

    // The proof of it: the service itself goes on.
    await using server = await startExecutable({ dataDir: data, enter: asService });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  },
);

asRoot("a directory that root makes below the service's is the service's", async () => {
  using place = openPlace();
  const dataDir = join(place.data, "deeper/companiond-data");
  await run(["account", "create", "--email", "ada@example.com", "--data-dir", dataDir]);
  expect(existsSync(join(dataDir, "companiond.db"))).toBe(true);
  expect(findStrays(place.data)).toEqual([]);
});

asRoot("a server that root starts is the owner of its data for good, once its ports are open", async () => {
  using place = openPlace();
  await using server = await startExecutable({ dataDir: place.data, args: ["--demo"] });
  expect((await server.logged("running as the owner of the data directory"))["user"]).toBe(`user ${service}`);
  expect(rightsOf(server.pid)).toEqual([`${Array(4).fill(service)} ${Array(4).fill(service)} ${service}`]);
  expect(findStrays(place.data)).toEqual([]);
  expect(readdirSync(place.data)).toContain("setup-link");
  expect(await server.stop()).toBe(0);
});

asRoot("root follows no link in the data directory, and reads none that its owner put there", async () => {
  using place = openPlace();
  const { data, secret } = place;
  const create = ["account", "create", "--email", "ada@example.com", "--data-dir", data];
  for (const name of ["companiond.db", "backups", "serve.lock"]) {
    using other = openPlace();
    symlinkSync(join(secret, "elsewhere"), join(other.data, name));
    const refused = await runExecutable([...create.slice(0, -1), other.data]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(`${join(other.data, name)} is a symbolic link`);
  }
  expect(readdirSync(secret)).toEqual([]);

  await run(create);
  await run(["backup", join(secret, "copy.db"), "--data-dir", data]);
  mkdirSync(join(data, "backups"), { mode: 0o700 });
  chownSync(join(data, "backups"), service, service);
  symlinkSync(join(secret, "copy.db"), join(data, "backups/copy.db"));
  symlinkSync(secret, join(data, "backups/out"));
  const restored = await runExecutable(["restore", join(data, "backups/copy.db"), "--data-dir", data]);
  expect(restored).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("cannot be read (EACCES)") });
  const written = await runExecutable(["backup", join(data, "backups/out/b.db"), "--data-dir", data]);
  expect(written).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("could not be written") });
  expect(readdirSync(secret)).toEqual(["copy.db"]);
});

asRoot("root goes no way to the data directory that another user has chosen", async () => {
  using place = openPlace();
  const { data, secret, file } = place;
  // As whoever owns the directory above can put it in place of the data directory.
  mkdirSync(file("home"));
  symlinkSync(secret, file("home/data"));
  lchownSync(file("home/data"), service, service);
  symlinkSync(file("home/data"), file("data-of-home"));
  for (const dataDir of [file("home/data"), file("home/data/new"), file("data-of-home")]) {
    const refused = await runExecutable(["account", "create", "--email", "ada@example.com", "--data-dir", dataDir]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toStartWith(`companiond: ${file("home/data")} is a symbolic link of user ${service}`);
  }
  expect(readdirSync(secret)).toEqual([]);
  // To what is its own, it may lead as it likes.
  symlinkSync(data, file("home/own"));
  lchownSync(file("home/own"), service, service);
  await run(["account", "create", "--email", "ada@example.com", "--data-dir", file("home/own")]);
  expect(findStrays(data)).toEqual([]);
});

asRoot("a directory that was only given a new owner leaves no command and no server in root's group", async () => {
  using place = openPlace();
  chownSync(place.data, service, 0);
  await using server = await startExecutable({ dataDir: place.data });
  expect(rightsOf(server.pid)).toEqual([`${Array(4).fill(service)} ${Array(4).fill(service)} ${service}`]);
  expect(findStrays(place.data)).toEqual([]);
});

interface Check {
  name: string;
  status: string;
  detail: string;
  advice: string | null;
}

async function examine(
  dataDir: string,
  executable: Parameters<typeof runInstead>[0],
): Promise<(name: string) => Check> {
  const { stdout } = await runInstead(executable, ["doctor", "--json", "--data-dir", dataDir, "--port", "0"]);
  const checks: Check[] = JSON.parse(stdout).checks;
  return (name) => checks.find((check) => check.name === name) ?? { name, status: "absent", detail: "", advice: null };
}

/** The executable behind another program. */
async function runInstead(enter: readonly string[], words: string[]): Promise<Finished> {
  const [program = "", ...before] = enter;
  return await runExecutable([...before, join(import.meta.dir, "../dist/companiond"), ...words], {
    executable: program,
  });
}

asRoot("another user is told whose the directory or the file is, and how to work there", async () => {
  using place = openPlace();
  const { data } = place;
  await run(["account", "create", "--email", "ada@example.com", "--data-dir", data]);
  const stranger = ["/usr/bin/setpriv", "--reuid=54322", "--regid=54322", "--clear-groups"];
  const list = ["account", "list", "--data-dir", data];
  const whose = `${data} belongs to user ${service}; this is user 54322, who may not read and write it (mode 700).`;
  expect((await runInstead(stranger, list)).stderr).toBe(
    `companiond: ${whose} Run this as its owner: sudo companiond …\n`,
  );
  const foreign = await examine(data, stranger);
  expect(foreign("data directory")).toMatchObject({ status: "fail", detail: whose });
  expect(foreign("database").status).toBe("absent");

  // As an earlier version left it behind a command of root.
  chownSync(join(data, "companiond.db"), 0, 0);
  const left = `${join(data, "companiond.db")} belongs to root (0)`;
  for (const enter of [asService, ["/usr/bin/env"]]) {
    const { stderr } = await runInstead(enter, list);
    expect(stderr).toContain(left);
    expect(stderr).toContain(`chown ${service} ${join(data, "companiond.db")}`);
    const find = await examine(data, enter);
    expect(find("data directory")).toMatchObject({ status: "fail", detail: expect.stringContaining(left) });
    expect(find("database")).toMatchObject({ status: "fail", detail: expect.stringContaining("could not be checked") });
    expect(find("database").advice).not.toContain("backup");
  }
  const missing = await examine(place.file("nowhere"), ["/usr/bin/env"]);
  expect(missing("data directory")).toMatchObject({
    status: "fail",
    detail: `${place.file("nowhere")} does not exist.`,
  });
});

asRoot("who may not make the directory is never told to take what is above it", async () => {
  using place = openPlace();
  const create = ["account", "create", "--email", "ada@example.com"];
  const ask = async (dataDir: string, words: string[]) =>
    (await runInstead(asService, [...words, "--data-dir", dataDir])).stderr;
  const missing = place.file("nowhere");
  expect(await ask(missing, ["account", "list"])).toStartWith(`companiond: There is no database in ${missing}. Name`);
  expect(await ask(missing, create)).toContain(`install -d -m 700 -o ${service} ${missing}`);
  const shut = join(place.secret, "data");
  for (const words of [["account", "list"], create])
    expect(await ask(shut, words)).toContain(`${shut} cannot be looked at`);
  expect(await ask("/etc", ["account", "list"])).toStartWith("companiond: There is no database in /etc.");
  for (const dataDir of [missing, shut]) expect(await ask(dataDir, create)).not.toContain("chown");
});

asRoot("root without the right to become others says so, in a sentence", async () => {
  using place = openPlace();
  const enter = ["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"];
  const create = ["account", "create", "--email", "ada@example.com", "--data-dir", place.data];
  const { exitCode, stderr } = await runInstead(enter, create);
  expect(exitCode).toBe(1);
  expect(stderr).toStartWith(`companiond: ${place.data} belongs to user ${service}, as whom root works there`);
  expect(readdirSync(place.data)).toEqual([]);
});

const readOnly = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"';
const canMount = isRoot && Bun.spawnSync(["/usr/bin/unshare", "--mount", "/bin/true"]).exitCode === 0;

test.skipIf(!canMount)(
  "a healthy database on a read-only file system is intact, and the file system is what is wrong",
  async () => {
    using place = openPlace();
    const { data } = place;
    await run(["account", "create", "--email", "ada@example.com", "--data-dir", data]);
    const enter = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", readOnly, "sh", data];
    const find = await examine(data, enter);
    const detail = `The file system of ${data} is read-only.`;
    expect(find("data directory")).toMatchObject({ status: "fail", detail });
    expect(find("database")).toMatchObject({ status: "ok", detail: expect.stringContaining("It is intact") });
    for (const words of [["account", "list"], ["serve"], ["backup", join(place.secret, "b.db")]]) {
      const { exitCode, stdout, stderr } = await runInstead(enter, [...words, "--data-dir", data]);
      expect({ words, exitCode, said: stdout + stderr }).toEqual({
        words,
        exitCode: 1,
        said: expect.stringContaining(detail),
      });
    }
    // Writes that are in the log alone: nothing is said of the database, least of all that it is damaged.
    await Bun.write(join(data, "companiond.db-wal"), "the last writes");
    const unread = await examine(data, enter);
    expect(unread("database")).toMatchObject({
      status: "fail",
      detail: expect.stringContaining("could not be checked"),
    });
  },
);
