/**
 * A small Debian in a folder, for packages: dpkg's records, and copies of what maintainer scripts run. The machine's own
 * packages and users stay as they are. Needs root, since dpkg changes owners and scripts run in a root of their own.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "./temporary.ts";

const dpkg = "/usr/bin/dpkg";
const programs = ["/bin/sh", ...["chmod", "chown", "getent", "mkdir", "nologin", "rmdir", "useradd"].map(findProgram)];

export interface DebianRoot extends Disposable {
  readonly path: string;
  /** A path inside it. */
  file(path: string): string;
  /** Runs dpkg on it; `output` has what it and the scripts print. */
  dpkg(...args: string[]): { exitCode: number; output: string };
  /** User, group and home directory of one of its users, or null. */
  findUser(name: string): { uid: number; gid: number; home: string; shell: string } | null;
}

export function makeDebianRoot(): DebianRoot {
  const folder = temporaryDirectory();
  // Its users must be able to pass.
  chmodSync(folder.path, 0o755);
  const file = (path: string) => join(folder.path, path);
  for (const name of ["bin", "sbin", "lib", "lib64"]) {
    mkdirSync(file(`usr/${name}`), { recursive: true });
    symlinkSync(`usr/${name}`, file(name));
  }
  for (const path of [
    "etc",
    "tmp",
    "var/lib/dpkg/info",
    "var/lib/dpkg/updates",
    "var/lib/dpkg/triggers",
    "var/log",
    "dev",
  ]) {
    mkdirSync(file(path), { recursive: true });
  }
  for (const path of new Set(programs.flatMap((program) => [program, ...librariesOf(program)]))) {
    mkdirSync(dirname(file(path)), { recursive: true });
    copyFileSync(path, file(path));
  }
  // A plain file does: making a device takes rights that some containers do not have.
  writeFileSync(file("dev/null"), "");
  copyFileSync("/etc/login.defs", file("etc/login.defs"));
  writeFileSync(file("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  writeFileSync(file("etc/group"), "root:x:0:\n");
  for (const name of ["shadow", "gshadow"]) writeFileSync(file(`etc/${name}`), "", { mode: 0o600 });
  writeFileSync(file("etc/nsswitch.conf"), "passwd: files\ngroup: files\n");
  // What packages depend on is checked against the versions of this machine.
  writeFileSync(file("var/lib/dpkg/status"), run(["/usr/bin/dpkg-query", "--status", "libc6", "passwd"]).output);
  return {
    path: folder.path,
    file,
    dpkg: (...args) => run([dpkg, `--root=${folder.path}`, `--log=${file("var/log/dpkg.log")}`, ...args]),
    findUser(name) {
      const line = readFileSync(file("etc/passwd"), "utf8")
        .split("\n")
        .find((one) => one.startsWith(`${name}:`));
      if (line === undefined) return null;
      const [, , uid, gid, , home = "", shell = ""] = line.split(":");
      return { uid: Number(uid), gid: Number(gid), home, shell };
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

function findProgram(name: string): string {
  return ["/usr/bin", "/usr/sbin"].map((folder) => join(folder, name)).find(existsSync) ?? `/usr/bin/${name}`;
}

function librariesOf(program: string): string[] {
  const found = run(["/usr/bin/ldd", program]).output.match(/(?<=\s)\/\S+/g) ?? [];
  return found.filter((path) => path.includes(".so"));
}

function run(command: string[]): { exitCode: number; output: string } {
  const path = "/usr/sbin:/usr/bin:/sbin:/bin";
  const environment = { PATH: path, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" };
  const done = Bun.spawnSync(command, { env: environment, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  return { exitCode: done.exitCode, output: done.stdout.toString() + done.stderr.toString() };
}
