/** The Debian packages: installed, started, updated, removed and purged by dpkg, in a root of their own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { guideFiles } from "../../scripts/guide-files.ts";
import { readElfNeeds } from "../../scripts/release/elf.ts";
import { foreign, maintainer, native, writePackage } from "../support/debian-package.ts";
import { type DebianRoot, makeDebianRoot } from "../support/debian-root.ts";
import { inTime } from "../support/eventually.ts";
import { executablePath } from "../support/executable.ts";
import { readLines } from "../support/line-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

/** The offset of the architecture in an ELF header. */
const machineAt = 18;

let dir: TemporaryDirectory;
let debian: DebianRoot;
beforeAll(() => {
  dir = temporaryDirectory();
  debian = makeDebianRoot();
});
afterAll(() => {
  debian[Symbol.dispose]();
  dir[Symbol.dispose]();
});

/** A small program of this machine, with its own needs of glibc, said to be for another architecture. */
function standIn(machine: number): Buffer {
  const program = readFileSync("/usr/bin/true");
  program.writeUInt16LE(machine, machineAt);
  return program;
}

function run(...command: string[]): string {
  const done = Bun.spawnSync(command, { env: { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin" }, stderr: "pipe" });
  return done.success ? done.stdout.toString() : `${command.join(" ")}: ${done.stderr.toString()}`;
}

/** Of the guides, among the files beside them; also where those are compressed. */
function findBrokenLinks(folder: string): string[] {
  const guides = [...new Bun.Glob("**/*.md{,.gz}").scanSync({ cwd: folder })];
  for (const { path } of guideFiles) expect(guides.map((name) => name.replace(/\.gz$/, ""))).toContain(path);
  return guides.flatMap((guide) => {
    const file = join(folder, guide);
    const text = guide.endsWith(".gz")
      ? Buffer.from(Bun.gunzipSync(readFileSync(file))).toString()
      : readFileSync(file, "utf8");
    const links = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)[^)\s]*\)/g)].map(([, link = ""]) => link);
    const isThere = (link: string) => ["", ".gz"].some((end) => existsSync(join(dirname(file), `${link}${end}`)));
    return links.filter((link) => !isThere(link)).map((link) => `${guide}: ${link}`);
  });
}

test("the package for the other architecture says what it is, and has every file with its owner and rights", async () => {
  const program = standIn(foreign === "arm64" ? 183 : 62);
  const file = await writePackage(dir, "1.0.0-rc.1", foreign, program);
  expect(file).toEndWith(`companiond_1.0.0~rc.1_${foreign}.deb`);
  const field = (name: string) => run("/usr/bin/dpkg-deb", "--field", file, name).trim();
  expect([field("Package"), field("Version"), field("Architecture")]).toEqual(["companiond", "1.0.0~rc.1", foreign]);
  expect(field("Depends")).toBe(`libc6 (>= ${readElfNeeds(program).glibc}), passwd`);
  expect(field("Maintainer")).toBe(maintainer);

  const listed = run("/usr/bin/dpkg-deb", "--contents", file).trim().split("\n");
  const rows = listed.map((line) => line.split(/\s+/)).map(([mode, owner, , , , path]) => `${mode} ${owner} ${path}`);
  const guide = / \.\/usr\/share\/doc\/companiond\/(docs|deploy|examples)\/|SECURITY\.md\.gz$/;
  const guides = rows.filter((row) => !row.startsWith("d") && guide.test(row));
  expect(guides.every((row) => row.startsWith("-rw-r--r-- root/root "))).toBe(true);
  expect(rows.filter((row) => !row.startsWith("d") && !guide.test(row))).toEqual(
    [
      ["-rw-------", "./etc/companiond/companiond.env"],
      ["-rwxr-xr-x", "./usr/bin/companiond"],
      ["-rw-r--r--", "./usr/lib/systemd/system/companiond.service"],
      ["-rw-r--r--", "./usr/share/bash-completion/completions/companiond"],
      ["-rw-r--r--", "./usr/share/doc/companiond/CHANGELOG.md.gz"],
      ["-rw-r--r--", "./usr/share/doc/companiond/THIRD-PARTY-NOTICES.txt.gz"],
      ["-rw-r--r--", "./usr/share/doc/companiond/changelog.gz"],
      ["-rw-r--r--", "./usr/share/doc/companiond/companiond.env.example"],
      ["-rw-r--r--", "./usr/share/doc/companiond/copyright"],
      ["-rw-r--r--", "./usr/share/doc/companiond/sbom.cdx.json"],
      ["-rw-r--r--", "./usr/share/fish/vendor_completions.d/companiond.fish"],
      ["-rw-r--r--", "./usr/share/man/man1/companiond.1.gz"],
      ["-rw-r--r--", "./usr/share/zsh/vendor-completions/_companiond"],
    ].map(([mode, path]) => `${mode} root/root ${path}`),
  );
  for (const row of rows.filter((one) => one.startsWith("d"))) expect(row).toMatch(/^drwxr-xr-x root\/root \.\//);

  run("/usr/bin/dpkg-deb", "--raw-extract", file, dir.file("unpacked"));
  expect(readElfNeeds(readFileSync(dir.file("unpacked/usr/bin/companiond"))).machine).toBe(
    foreign === "arm64" ? 183 : 62,
  );
  expect(findBrokenLinks(dir.file("unpacked/usr/share/doc/companiond"))).toEqual([]);
  const sums = Bun.spawnSync(["/usr/bin/md5sum", "--check", "--quiet", "DEBIAN/md5sums"], {
    cwd: dir.file("unpacked"),
  });
  expect(sums.exitCode).toBe(0);
  const again = readFileSync(file);
  expect(readFileSync(await writePackage(dir, "1.0.0-rc.1", foreign, program)).equals(again)).toBe(true);
});

test("an executable of another architecture, and one that needs more than glibc, are refused", async () => {
  await expect(writePackage(dir, "1.0.0", "arm64", standIn(62))).rejects.toThrow("The executable is not arm64's.");
  const needy = readFileSync("/usr/bin/openssl");
  needy.writeUInt16LE(62, machineAt);
  await expect(writePackage(dir, "1.0.0", "amd64", needy)).rejects.toThrow("which the package does not name");
});

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)("dpkg installs the package with its user, its directory and its settings", async () => {
  const older = await writePackage(dir, "0.0.1", native, readFileSync("/usr/bin/true"));
  const { exitCode, output } = debian.dpkg("--install", older);
  expect({ exitCode, output }).toMatchObject({
    exitCode: 0,
    output: expect.stringContaining("Settings of companiond"),
  });
  const user = debian.findUser("companiond");
  expect(user).toMatchObject({ home: "/var/lib/companiond", shell: "/usr/sbin/nologin" });
  const data = statSync(debian.file("var/lib/companiond"));
  expect([data.mode & 0o777, data.uid, data.gid]).toEqual([0o700, user?.uid ?? 0, user?.gid ?? 0]);
  expect(user?.uid).toBeGreaterThan(0);
  const settings = statSync(debian.file("etc/companiond/companiond.env"));
  expect([settings.mode & 0o777, settings.uid]).toEqual([0o600, 0]);
  // So that commands need this file alone to find the service's data.
  const given = readFileSync(debian.file("etc/companiond/companiond.env"), "utf8").split("\n");
  expect(given.filter((line) => /^\w/.test(line))).toEqual(["COMPANIOND_DATA_DIR=/var/lib/companiond"]);
});

test.skipIf(!isRoot)("a newer package keeps the settings and the data, and its service answers", async () => {
  const settings = debian.file("etc/companiond/companiond.env");
  writeFileSync(settings, "PORT=0\nCOMPANIOND_LOG=info\n");
  writeFileSync(debian.file("var/lib/companiond/kept"), "words");
  const { exitCode, output } = debian.dpkg(
    "--install",
    await writePackage(dir, "0.0.2", native, readFileSync(executablePath)),
  );
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
  expect(output).not.toContain("Settings of companiond");
  expect(readFileSync(settings, "utf8")).toBe("PORT=0\nCOMPANIOND_LOG=info\n");

  // As systemd does: the unit's command as the unit's user, with the credential that the unit names.
  const unit = readFileSync(debian.file("usr/lib/systemd/system/companiond.service"), "utf8");
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const [credential = "", source = ""] = value("LoadCredential").split(":");
  const { uid, gid } = debian.findUser(value("User")) ?? { uid: 0, gid: 0 };
  const credentials = debian.file("run/credentials");
  mkdirSync(credentials, { recursive: true });
  copyFileSync(debian.file(source), `${credentials}/${credential}`);
  chmodSync(`${credentials}/${credential}`, 0o400);
  chownSync(`${credentials}/${credential}`, uid, gid);
  const command = value("ExecStart")
    .replace("%d", credentials)
    .replaceAll(/(?<= |^)\/(?=usr|var)/g, `${debian.path}/`);
  const child = Bun.spawn(["/usr/sbin/chroot", `--userspec=${uid}:${gid}`, "/", ...command.split(" ")], {
    cwd: debian.path,
    env: {},
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    const lines = readLines(child.stdout);
    const listening = async () => {
      for await (const line of lines) if (line.includes('"listening"')) return JSON.parse(line);
      throw new Error(await child.stderr.text());
    };
    const { url } = await inTime(listening(), { what: "the service listens" });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(readFileSync(`/proc/${child.pid}/status`, "utf8")).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t`, "m"));
    expect(statSync(debian.file("var/lib/companiond/companiond.db")).uid).toBe(uid);
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
  expect(child.exitCode).toBe(0);
});

test.skipIf(!isRoot)("removing it keeps settings and data, and purging it the data, and says where they are", () => {
  expect(debian.dpkg("--remove", "companiond").exitCode).toBe(0);
  expect(existsSync(debian.file("usr/bin/companiond"))).toBe(false);
  expect(readFileSync(debian.file("etc/companiond/companiond.env"), "utf8")).toStartWith("PORT=0");
  const { exitCode, output } = debian.dpkg("--purge", "companiond");
  expect({ exitCode, output }).toMatchObject({
    exitCode: 0,
    output: expect.stringContaining("The data is still in /var/lib/companiond"),
  });
  expect(existsSync(debian.file("etc/companiond"))).toBe(false);
  expect(readFileSync(debian.file("var/lib/companiond/kept"), "utf8")).toBe("words");
  expect(readFileSync(debian.file("var/lib/dpkg/status"), "utf8")).not.toContain("Package: companiond");
});
