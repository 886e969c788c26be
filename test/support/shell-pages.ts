/**
 * Runs the shell lines of a page of the documentation as a reader does: from the first to the last, in one shell, so
 * that a variable which nothing sets stops it. Only the addresses, paths and the key are those of the test.
 */
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { allCodeBlocks } from "./code-blocks.ts";
import { inTime } from "./eventually.ts";
import { executablePath } from "./executable.ts";
import { temporaryDirectory } from "./temporary.ts";

const root = join(import.meta.dir, "../..");

export interface PageRun {
  exitCode: number;
  /** What the lines printed. */
  stdout: string;
  stderr: string;
}

export interface PageWorld {
  /** Of the server that the page's commands share; null where the page itself shows where it is. */
  dataDir: string | null;
  /** Programs that come before those of this file. */
  bin?: string;
  /** The shell lines instead of a block of settings (`ini`), which are otherwise only shown. */
  edit?: (settings: string) => string;
  /** What the reader has before the page begins. */
  env?: Readonly<Record<string, string>>;
  /** What stands in the page for something of the reader's own. */
  replace?: Readonly<Record<string, string>>;
  /** Puts there what the page begins with; returns more of `replace`. */
  prepare?: (directory: string) => Promise<Record<string, string>>;
}

/** Programs that would not end, or belong to the gate itself: they are tried as far as that goes. */
const stand = {
  // Errors of the server must stop the shell, and a time limit that the page sets must not.
  curl: `#!/bin/bash
set -uo pipefail
case " $* " in
  *" -w "*) /usr/bin/curl \${CURL_MORE-} "$@" ;;
  *) /usr/bin/curl \${CURL_MORE-} --fail-with-body "$@" ;;
esac
code=$?
case " $* " in *" --max-time "*) [ $code -eq 28 ] && exit 0 ;; esac
exit $code
`,
  companiond: `#!/bin/bash
case " $* " in
  *" serve "*) exec "$BUN" "$ROOT/test/support/serve-once-process.ts" "$@" ;;
  *) exec ${executablePath} "$@" ;;
esac
`,
  npx: `#!/bin/bash
[ "$1 $2" = "-y bun@$BUN_VERSION" ] || { echo "not the version of this project: $2" >&2; exit 1; }
shift 2
exec bun "$@"
`,
  bun: `#!/bin/bash
[ "$1" = run ] && shift
grep -q "^    \\"$1\\": " "$ROOT/package.json" || { echo "there is no script $1" >&2; exit 1; }
[ "$1" = start ] || exit 0
exec "$BUN" "$ROOT/test/support/serve-once-process.ts" serve --demo
`,
};

export async function runPage(page: string, world: PageWorld): Promise<PageRun> {
  const { dataDir, env = {}, replace = {}, prepare, edit } = world;
  using directory = temporaryDirectory();
  const bin = directory.file("bin");
  mkdirSync(bin);
  for (const [name, text] of Object.entries(stand)) {
    await Bun.write(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  mkdirSync(directory.file("dist"));
  symlinkSync(join(bin, "companiond"), directory.file("dist/companiond"));
  symlinkSync(join(root, "examples"), directory.file("examples"));

  const blocks = allCodeBlocks(await Bun.file(join(root, page)).text());
  let script = blocks
    .map(({ language, code }) => (language === "sh" ? code : language === "ini" ? (edit?.(code) ?? "") : ""))
    .filter(Boolean)
    .join("\n");
  const places = { "/var/lib/companiond": directory.file("data"), "/mnt/backups": directory.file("backups") };
  mkdirSync(places["/mnt/backups"]);
  const more = (await prepare?.(directory.path)) ?? {};
  const known: Readonly<Record<string, string>> = { ...(edit === undefined ? places : {}), ...replace, ...more };
  for (const [shown, own] of Object.entries(known)) script = script.replaceAll(shown, own);
  await Bun.write(directory.file("page.sh"), script);

  const run = Bun.spawn(["/bin/bash", "-euo", "pipefail", "-x", directory.file("page.sh")], {
    cwd: directory.path,
    env: {
      PATH: `${world.bin === undefined ? "" : `${world.bin}:`}${bin}:${dirname(Bun.which("node") ?? "/usr/bin/node")}:/usr/bin:/bin`,
      HOME: directory.path,
      BUN: process.execPath,
      BUN_VERSION: Bun.version,
      ROOT: root,
      ...(dataDir === null ? {} : { COMPANIOND_DATA_DIR: dataDir }),
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  const [stdout, stderr, exitCode] = await inTime(output, { what: `the shell lines of ${page}`, withinMs: 60_000 });
  return { exitCode, stdout, stderr };
}
