/**
 * A machine for the shell lines of the guide for operators, in a folder: what `apt` installs, a service that runs, the
 * operator who opens a link. Its programs ask the test for everything that a folder cannot do, and what cannot be
 * tried here stops the page. Needs root, since the service runs as a user of its own.
 */
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { debFileName } from "../../scripts/release/deb.ts";
import { debFiles } from "../../scripts/release/deb-files.ts";
import { executablePath } from "./executable.ts";
import { type Answer, createMachineService, refuse } from "./machine-service.ts";
import { temporaryDirectory } from "./temporary.ts";

const accepted = { exitCode: 0, output: "" };

/** Where the lines of a page name a path of the machine, it is one below its folder. */
const places = ["/etc/companiond", "/etc/systemd/system", "/usr/local/bin", "/var/lib/companiond", "/var/backups"];

/** Of all that only root may do, `systemctl status` is the exception. */
const requireSudo = `[ -n "\${AS_ROOT-}" ] || [ "$1" = status ] || { echo "this needs sudo: \${0##*/} $*" >&2; exit 77; }`;

const ask = (name: string) => `#!/bin/bash
${requireSudo}
answer=$(printf '%s\\0' ${name} "$@" | /usr/bin/curl --silent --show-error --data-binary @- "$MACHINE") || exit 70
answer=\${answer%.}
printf '%s' "\${answer#*$'\\n'}"
exit "\${answer%%$'\\n'*}"
`;

const programs: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["apt", "edit", "journalctl", "systemctl"].map((name) => [name, ask(name)])),
  // Nothing of the caller's environment reaches the command, as with sudo itself.
  sudo: `#!/bin/bash
case $1 in -*) echo "nobody can try here: sudo $1" >&2; exit 64 ;; esac
exec /usr/bin/env -i AS_ROOT=yes PATH="$PATH" HOME="$HOME" MACHINE="$MACHINE" MACHINE_ROOT="$MACHINE_ROOT" MACHINE_ENV="$MACHINE_ENV" "$@"
`,
  sudoedit: `#!/bin/bash\nAS_ROOT=yes exec "\${0%/*}/edit" "$@"\n`,
  companiond: `#!/bin/bash
${requireSudo}
set -o pipefail
for place in usr/local/bin usr/bin; do
  [ -x "$MACHINE_ROOT/$place/companiond" ] && program=$MACHINE_ROOT/$place/companiond && break
done
[ "$1" = update ] && export $MACHINE_ENV
"$program" "$@" | tee "$MACHINE_ROOT/run/said"
code=$?
"\${0%/*}/read-said"
exit $code
`,
  "read-said": ask("read-said"),
  useradd: account("useradd"),
  userdel: account("userdel"),
};

/** Nothing writes to it, and a copy is large; the project may be on another disk. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}

/** Real, but for users of the machine alone. */
function account(name: string): string {
  return `#!/bin/bash\n${requireSudo}\nexec /usr/sbin/${name} --prefix "$MACHINE_ROOT" "$@"\n`;
}

export interface PageMachine extends AsyncDisposable {
  /** Programs that come before those of the system. */
  readonly bin: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What stands in the page, and what stands for it here. */
  readonly replace: Readonly<Record<string, string>>;
  /** What `journalctl -p warning` has printed, each time. */
  readonly warnings: readonly string[];
  /** Shell lines that write a block of settings as the reader does in an editor. */
  edit(settings: string): string;
}

export interface PageMachineOptions {
  /** What the server has from the test rather than from its settings, which are given. */
  server(settings: string): Readonly<Record<string, string>>;
  /** The same for `companiond update`. */
  update: Readonly<Record<string, string>>;
  /** What comes before the service's command, and becomes it. */
  enter: readonly string[];
  /** Whether what the link of the set-up opens has been filled in. */
  openSetUpLink(link: string): Promise<boolean>;
}

export async function startPageMachine(options: PageMachineOptions): Promise<PageMachine> {
  const folder = temporaryDirectory();
  chmodSync(folder.path, 0o755);
  const file = (path: string) => join(folder.path, path);
  for (const path of [
    "bin",
    "run",
    "etc",
    "usr/bin",
    "usr/local/bin",
    "etc/systemd/system",
    "var/lib",
    "var/backups",
  ]) {
    mkdirSync(file(path), { recursive: true });
  }
  for (const name of ["passwd", "group", "shadow", "gshadow"]) writeFileSync(file(`etc/${name}`), "");
  copyFileSync("/etc/login.defs", file("etc/login.defs"));
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(file(`bin/${name}`), text, { mode: 0o755 });
  }
  const findUser = (name: string) => {
    const line = readFileSync(file("etc/passwd"), "utf8")
      .split("\n")
      .find((one) => one.startsWith(`${name}:`));
    if (line === undefined) return null;
    const [, , uid, gid] = line.split(":");
    return { uid: Number(uid), gid: Number(gid) };
  };
  const warnings: string[] = [];
  const envFile = file("etc/companiond/companiond.env");
  const service = createMachineService({
    file,
    findUser,
    enter: options.enter,
    readEnvironment: () => options.server(readFileSync(envFile, "utf8")),
  });
  const replace = Object.fromEntries(places.map((place) => [place, file(place)]));

  const answers: Readonly<Record<string, (words: string[]) => Promise<Answer> | Answer>> = {
    systemctl: (words) => service.systemctl(words),
    journalctl(words) {
      const answer = service.journalctl(words);
      if (words.includes("warning")) warnings.push(answer.output);
      return answer;
    },
    edit: (words) => (words.join(" ") === envFile && existsSync(envFile) ? accepted : refuse("sudoedit", words)),
    async apt(words) {
      if (words.join(" ") === "purge companiond") {
        const stopped = await service.systemctl(["stop", "companiond"]);
        for (const path of ["usr/bin/companiond", "usr/lib", "etc/companiond"]) rmSync(file(path), { recursive: true });
        return stopped;
      }
      const [verb, ...rest] = words.filter((word) => word !== "--allow-downgrades");
      const version = /^\.\/companiond_([\d.]+)_amd64\.deb$/.exec(rest.join(" "))?.[1];
      if (verb !== "install" || version === undefined) return refuse("apt", words);
      if (rest[0] !== `./${debFileName(version, "amd64")}`) return refuse("apt", words);
      return install(version);
    },
    async "read-said"() {
      const said = readFileSync(file("run/said"), "utf8");
      const token = /\bemb_\w+/.exec(said);
      if (token !== null) writeFileSync(file("run/token"), token[0]);
      const backup = /companiond-\S+\.db\S*/.exec(said);
      if (backup !== null) writeFileSync(file("run/backup"), backup[0]);
      const link = /https?:\/\/\S+\/\S*set-?up\S*/.exec(said);
      if (link === null || (await options.openSetUpLink(link[0]))) return accepted;
      return { exitCode: 1, output: `${link[0]} does not set anything up\n` };
    },
  };

  /** As the package does, without dpkg, which is tried where the package is tested. */
  async function install(version: string): Promise<Answer> {
    if (existsSync(file("usr/bin/companiond"))) {
      // What a version that migrates does first.
      const kept = file("var/lib/companiond/backups/before-migration-1-to-2.db");
      const words = ["backup", kept, "--env-file", envFile];
      mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
      const owner = findUser("companiond");
      if (owner !== null) chownSync(dirname(kept), owner.uid, owner.gid);
      const made = existsSync(kept) ? null : Bun.spawnSync([file("usr/bin/companiond"), ...words], { env: {} });
      if (made?.success === false) return { exitCode: 1, output: made.stderr.toString() };
    }
    const facts = { version, maintainer: "", builtAt: new Date(0) };
    const texts = { manPage: "", completions: { bash: "", zsh: "", fish: "" }, notices: "", sbom: "" };
    for (const { path, mode, content } of debFiles(texts, facts)) {
      if (!/^(etc|usr\/lib)\//.test(path) || (path.startsWith("etc/") && existsSync(file(path)))) continue;
      mkdirSync(dirname(file(path)), { recursive: true });
      const own = path === "etc/companiond/companiond.env" ? place(String(content)) : content;
      writeFileSync(file(path), own, { mode });
    }
    rmSync(file("usr/bin/companiond"), { force: true });
    link(executablePath, file("usr/bin/companiond"));
    if (findUser("companiond") === null) {
      const made = Bun.spawnSync([file("bin/useradd"), "--system", "--user-group", "companiond"], {
        env: { PATH: "/usr/bin:/bin", AS_ROOT: "yes", ...environment },
      });
      if (!made.success) return { exitCode: 1, output: made.stderr.toString() };
    }
    const data = file("var/lib/companiond");
    const owner = findUser("companiond");
    mkdirSync(data, { recursive: true, mode: 0o700 });
    if (owner !== null) chownSync(data, owner.uid, owner.gid);
    return service.systemctl(["restart", "companiond"]);
  }

  const place = (text: string) => places.reduce((done, path) => done.replaceAll(path, file(path)), text);
  const door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const [name = "", ...words] = (await request.text()).split("\0").slice(0, -1);
      const trial = async () => (await answers[name]?.(words)) ?? refuse(name, words);
      const answer = await trial().catch((error) => ({ exitCode: 1, output: `${name}: ${error}\n` }));
      return new Response(`${answer.exitCode}\n${answer.output}.`);
    },
  });
  const environment = {
    MACHINE: door.url.href,
    MACHINE_ROOT: folder.path,
    MACHINE_ENV: Object.entries(options.update)
      .map(([name, value]) => `${name}=${value}`)
      .join(" "),
  };
  return {
    bin: file("bin"),
    environment,
    warnings,
    replace: {
      ...replace,
      "emb_…": `$(cat ${file("run/token")})`,
      "before-migration-….db": "before-migration-1-to-2.db",
      "companiond-….db.zst.age": `$(cat ${file("run/backup")})`,
    },
    edit: (settings) => `cat >> /etc/companiond/companiond.env <<END\n${settings}END\n`,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await door.stop(true);
      folder[Symbol.dispose]();
    },
  };
}
