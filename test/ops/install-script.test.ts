/**
 * The install script of a release, as `curl URL | sh` runs it: what it installs, and that nothing is left where it
 * refuses.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { renderInstallScript } from "../../scripts/release/install-script.ts";
import { readSigningKey, type SigningKey } from "../../scripts/release/signing.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const target = process.arch === "arm64" ? "linux-arm64" : "linux-x64";
const name = `companiond-${target}`;
const executable = "#!/bin/sh\necho companiond 1.2.3\n";
/** What the script runs, and by what it downloads. */
const programs = [
  "cat",
  "chmod",
  "cut",
  "id",
  "ldd",
  "mkdir",
  "mktemp",
  "mv",
  "openssl",
  "rm",
  "sed",
  "sha256sum",
  "uname",
];
const downloaders = { curl: "/usr/bin/curl", wget: "/usr/bin/wget" } as const;

let dir: TemporaryDirectory;
let server: Bun.Server<undefined>;
let key: SigningKey;
let files: Record<string, string | (() => Response) | undefined>;
beforeAll(() => {
  dir = temporaryDirectory();
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const file = files[new URL(request.url).pathname.slice(1)];
      if (file === undefined) return new Response("no", { status: 404 });
      return typeof file === "string" ? new Response(file) : file();
    },
  });
  const made = Bun.spawnSync(["/usr/bin/openssl", "genpkey", "-algorithm", "ed25519", "-out", dir.file("key.pem")]);
  expect(made.exitCode).toBe(0);
  key = readSigningKey(dir.file("key.pem"));
  for (const [downloader, path] of Object.entries(downloaders)) {
    mkdirSync(dir.file(downloader));
    const others = programs.map((program) => Bun.which(program, { PATH: "/usr/bin:/bin" }) ?? program);
    for (const program of [path, ...others])
      symlinkSync(program, join(dir.file(downloader), program.split("/").at(-1) ?? ""));
  }
});
beforeEach(() => {
  rmSync(dir.file("to"), { recursive: true, force: true });
  const sum = new Bun.SHA256().update(executable).digest("hex");
  const sums = `${"0".repeat(64)}  ${name}-musl\n${sum}  ${name}\n`;
  files = { [name]: executable, SHA256SUMS: sums, "SHA256SUMS.sig": `${key.sign(sums)}\n` };
});
afterAll(async () => {
  await server.stop(true);
  dir[Symbol.dispose]();
});

interface Setting {
  /** Where the downloads are; the server of this test by default. */
  baseUrl?: string | null;
  downloader?: keyof typeof downloaders;
  isSigned?: boolean;
  /** How much of the script arrives. */
  length?: number;
  options?: string[];
}

async function install({ baseUrl, downloader = "curl", isSigned = true, length, options }: Setting = {}) {
  const script = renderInstallScript(baseUrl === undefined ? `${server.url}` : baseUrl, isSigned ? key : null);
  const child = Bun.spawn(["/bin/sh", "-s", "--", ...(options ?? ["--to", dir.file("to")])], {
    env: { PATH: dir.file(downloader), HOME: dir.file("home"), LC_ALL: "C" },
    stdin: new Blob([script.slice(0, length)]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

function installed(): string[] {
  return existsSync(dir.file("to")) ? readdirSync(dir.file("to")) : [];
}

test.each(["curl", "wget"] as const)(
  "downloads with %s, checks and installs what runs on this machine",
  async (downloader) => {
    const { exitCode, stdout, stderr } = await install({ downloader });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain(`Installed ${dir.file("to/companiond")}: companiond 1.2.3\n`);
    expect(stdout).toContain(`Try it with: ${dir.file("to/companiond")} serve --demo\n`);
    expect(installed()).toEqual(["companiond"]);
    expect(readFileSync(dir.file("to/companiond"), "utf8")).toBe(executable);
    expect(statSync(dir.file("to/companiond")).mode & 0o777).toBe(0o755);
  },
);

test("an unsigned release is installed by its checksums, and that is said", async () => {
  files["SHA256SUMS.sig"] = undefined;
  const { exitCode, stdout } = await install({ isSigned: false });
  expect({ exitCode, installed: installed() }).toEqual({ exitCode: 0, installed: ["companiond"] });
  expect(stdout).toContain("This release is not signed: only its checksums are checked.");
});

const cut = () =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(executable.slice(0, 10));
        controller.close();
      },
    }),
  );

test.each<[string, () => Partial<typeof files>, Setting, string]>([
  ["an executable that is cut", () => ({ [name]: cut }), {}, "the checksum of"],
  ["another executable", () => ({ [name]: `${executable}\n` }), {}, "the checksum of"],
  [
    "sums that nobody signed",
    () => ({ "SHA256SUMS.sig": key.sign("other") }),
    {},
    "the signature of SHA256SUMS is wrong",
  ],
  ["no signature", () => ({ "SHA256SUMS.sig": undefined }), {}, "SHA256SUMS.sig could not be downloaded"],
  ["no such target", () => sign({ SHA256SUMS: "other\n" }), {}, `this release has no ${name}.`],
  ["what does not run", () => sign(withSums("#!/bin/sh\nexit 1\n")), {}, "does not run on this machine"],
  ["no executable", () => ({ [name]: undefined }), { downloader: "wget" }, `${name} could not be downloaded`],
  ["plain HTTP", () => ({}), { baseUrl: "http://releases.example.com/" }, "is not an https address"],
  ["what only looks local", () => ({}), { baseUrl: "http://127.0.0.1.example.com/" }, "is not an https address"],
  ["a user that looks local", () => ({}), { baseUrl: "http://localhost:1@example.com/" }, "must be a plain address"],
  ["no address", () => ({}), { baseUrl: null }, "Say so with --from URL."],
  ["an unknown option", () => ({}), { options: ["--into", "x"] }, "unknown option --into"],
])("%s is refused, and nothing is left behind", async (_, change, setting, sentence) => {
  files = { ...files, ...change() };
  const { exitCode, stderr } = await install(setting);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(sentence) });
  expect(installed()).toEqual([]);
});

function withSums(content: string): Record<string, string> {
  return { [name]: content, SHA256SUMS: `${new Bun.SHA256().update(content).digest("hex")}  ${name}\n` };
}

function sign(own: Record<string, string>): Record<string, string> {
  return { ...own, "SHA256SUMS.sig": key.sign(own["SHA256SUMS"] ?? "") };
}

test("a failed installation leaves the version that is there", async () => {
  mkdirSync(dir.file("to"));
  writeFileSync(dir.file("to/companiond"), "the one before");
  files[name] = "other";
  expect((await install()).exitCode).toBe(1);
  expect(readFileSync(dir.file("to/companiond"), "utf8")).toBe("the one before");
  expect(installed()).toEqual(["companiond"]);
  // `mv` would put it inside.
  rmSync(dir.file("to/companiond"));
  mkdirSync(dir.file("to/companiond"));
  files[name] = executable;
  expect((await install()).stderr).toContain("companiond is a directory");
  expect(readdirSync(dir.file("to/companiond"))).toEqual([]);
});

test("a part of the script does nothing, wherever it ends", async () => {
  const { length } = renderInstallScript(`${server.url}`, key);
  // The line feed at the end is not needed.
  const last = Array.from({ length: '{ main "$@"; }'.length }, (_, cut) => length - 2 - cut);
  for (const part of [0.3, 0.6, 0.9].map((share) => Math.floor(length * share)).concat(last)) {
    await install({ length: part });
    expect({ part, installed: installed(), home: existsSync(dir.file("home")) }).toEqual({
      part,
      installed: [],
      home: false,
    });
  }
});

test.each([
  ["FreeBSD", "x86_64", "there is no build for FreeBSD that this script can install."],
  ["Linux", "riscv64", "there is no build for riscv64 processors."],
  ["Linux", "aarch64", "this release has no companiond-linux-arm64."],
  ["Darwin", "arm64", "this release has no companiond-darwin-arm64."],
])("on %s and %s says: %s", async (system, processor, sentence) => {
  const uname = join(dir.file("curl"), "uname");
  const own = readFileSync(uname);
  rmSync(uname);
  writeFileSync(uname, `#!/bin/sh\ncase $1 in -m) echo ${processor} ;; *) echo ${system} ;; esac\n`);
  chmodSync(uname, 0o755);
  files = sign({ SHA256SUMS: `${"0".repeat(64)}  companiond-nothing\n` });
  const { exitCode, stderr } = await install();
  writeFileSync(uname, own);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(sentence) });
  expect(installed()).toEqual([]);
});

test("the scripts have no mistake that shellcheck finds", () => {
  const root = join(import.meta.dir, "../../deploy");
  const scripts = ["install.sh", "debian/postinst", "debian/prerm", "debian/postrm"].map((file) => join(root, file));
  const checked = Bun.spawnSync(["/usr/bin/shellcheck", ...scripts]);
  expect({ exitCode: checked.exitCode, output: checked.stdout.toString() }).toEqual({ exitCode: 0, output: "" });
});
