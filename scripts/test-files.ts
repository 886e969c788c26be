/** The test files, and what each needs beside Bun, read from its imports. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";
import { onEachEngine } from "./engine-tests.ts";

const root = join(import.meta.dir, "..");

/** A program of the system that tests run: `package` is Debian's, `path` names it in the tests. */
export interface SystemProgram {
  package: string;
  path: string;
  /** What it is there for. */
  purpose: string;
  /** The path of a program that does as well where it cannot be installed, at a higher price. */
  substitute?: string;
  /** True: tests that need nothing else neither disturb others nor are disturbed. */
  isQuiet?: true;
  /** True: one for all tests runs during the gate. */
  isServer?: true;
}

const programs: readonly SystemProgram[] = [
  {
    package: "chromium-headless-shell",
    path: "/usr/bin/chromium-headless-shell",
    substitute: "/usr/bin/chromium",
    purpose: "widget, SDK and dashboard in a real browser",
  },
  { package: "firefox-esr", path: "/usr/bin/firefox-esr", purpose: "widget and dashboard in a second engine" },
  { package: "webkit2gtk-driver", path: "/usr/bin/WebKitWebDriver", purpose: "widget and dashboard in a third engine" },
  { package: "xvfb", path: "/usr/bin/Xvfb", purpose: "a display for the third engine" },
  { package: "nginx", path: "/usr/sbin/nginx", purpose: "streams through a proxy" },
  { package: "caddy", path: "/usr/bin/caddy", purpose: "streams through a proxy" },
  { package: "prometheus", path: "/usr/bin/promtool", purpose: "the metrics and alert rules" },
  { package: "systemd", path: "/usr/bin/systemd-analyze", purpose: "the unit file" },
  { package: "systemd", path: "/usr/lib/systemd/systemd", purpose: "the service under its unit" },
  {
    package: "postgresql-15",
    path: "/usr/lib/postgresql/15/bin/postgres",
    purpose: "storage on PostgreSQL",
    isQuiet: true,
    isServer: true,
  },
  { package: "pebble", path: "/usr/bin/pebble", purpose: "certificates of a real authority", isQuiet: true },
  {
    package: "redis-server",
    path: "/usr/bin/redis-server",
    purpose: "limits that instances share",
    isQuiet: true,
    isServer: true,
  },
  { package: "curl", path: "/usr/bin/curl", purpose: "the shell lines of the documentation" },
  { package: "jq", path: "/usr/bin/jq", purpose: "the shell lines of the documentation" },
  { package: "openssl", path: "/usr/bin/openssl", purpose: "the shell lines of the documentation" },
  { package: "age", path: "/usr/bin/age", purpose: "encrypted backups", isQuiet: true },
  { package: "zstd", path: "/usr/bin/zstd", purpose: "compressed backups", isQuiet: true },
  { package: "strace", path: "/usr/bin/strace", purpose: "what the server writes to its disk, and disks that fail" },
  { package: "wget", path: "/usr/bin/wget", purpose: "the install script" },
  { package: "shellcheck", path: "/usr/bin/shellcheck", purpose: "the scripts of packages and for installing" },
  { package: "libcap2-bin", path: "/usr/sbin/setcap", purpose: "an executable with capabilities" },
  { package: "mandoc", path: "/usr/bin/mandoc", purpose: "the manual page" },
  { package: "zsh", path: "/usr/bin/zsh", purpose: "completions", isQuiet: true },
  { package: "fish", path: "/usr/bin/fish", purpose: "completions", isQuiet: true },
  { package: "faketime", path: "/usr/bin/faketime", purpose: "a clock that is set" },
  { package: "musl", path: "/lib/ld-musl-x86_64.so.1", purpose: "the executable for musl" },
  { package: "binutils", path: "/usr/bin/ld", purpose: "the executable for musl" },
  {
    package: "libstdc++-12-pic",
    path: "/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++_pic.a",
    purpose: "the executable for musl",
  },
];

export interface TestFile {
  /** Relative to the project. */
  path: string;
  programs: readonly SystemProgram[];
  /** Whether it runs or builds `dist/companiond`. */
  needsExecutable: boolean;
  /** Whether it measures what a process takes, which others beside it would falsify. */
  isMeasuring: boolean;
  /**
   * Whether it changes something of its process, or looks at all of it: other files there would be seen, or see it. Or
   * whether it costs less in a process of its own.
   */
  isAlone: boolean;
  /** Whether it makes whole requests, runs commands or starts processes. */
  isWhole: boolean;
  /** Whether the gate runs it on each storage engine. */
  isOnEachEngine: boolean;
  /** Whether it runs linters and generators of clients on the API document. */
  needsApiTools: boolean;
  /** Whether only `bun run full` runs it. */
  isFullOnly: boolean;
}

const changesProcess =
  /\bspyOn\(|mock\.module|useFakeTimers|setSystemTime|globalThis|process\.(?:on|once|env\[[^\]]+\] *=)|Bun\.gc|heapStats/;

/**
 * They allocate so much that garbage is collected again and again, and each time all that the files before them have left
 * in a shared process is gone through: the thousands of turns took 20 s of the processor there, and take 2 apart.
 */
const allocatesMuch: ReadonlySet<string> = new Set([
  "test/turns/random-turns.test.ts",
  "test/voice/webhook-floods.test.ts",
]);

export function findTestFiles(): TestFile[] {
  const found = [...new Glob("test/**/*.test.{ts,tsx}").scanSync({ cwd: root })];
  // The tools for the API document are packages of their own, with tests of their own.
  const paths = found.filter((path) => !path.includes("/node_modules/")).sort();
  return paths.map((path) => {
    const sources = readWithImports(join(root, path));
    const text = [...sources.values()].join("\n");
    return {
      path,
      programs: programs.filter((program) => text.includes(program.path)),
      isMeasuring: sources.get(join(root, path))?.includes("/resident-memory.ts") === true,
      needsExecutable: sources.has(join(root, "test/support/executable.ts")) || text.includes("scripts/build.ts"),
      isAlone: changesProcess.test(sources.get(join(root, path)) ?? "") || allocatesMuch.has(path),
      isWhole: sources.has(join(root, "test/support/engine.ts")) || text.includes("Bun.spawn"),
      isOnEachEngine: path in onEachEngine && sources.has(join(root, "test/support/engine.ts")),
      needsApiTools: sources.has(join(root, "test/support/api-tools.ts")),
      isFullOnly: /\.full\.test\.tsx?$/.test(path),
    };
  });
}

/** What they cannot run without. */
export function missingPrograms(files: readonly TestFile[]): SystemProgram[] {
  return uninstalledPrograms(files).filter(({ substitute }) => substitute === undefined || !existsSync(substitute));
}

/** The same, and what something else stands for. */
export function uninstalledPrograms(files: readonly TestFile[]): SystemProgram[] {
  const needed = new Set(files.flatMap((file) => file.programs));
  return [...needed].filter(({ path }) => !existsSync(path));
}

/** What the gate shows in good time: one to three seconds each, of what few changes touch. */
const leftToGate: ReadonlySet<string> = new Set([
  "test/backup-storage/s3-answers.test.ts",
  "test/backup-storage/s3-redirects.test.ts",
  "test/backup-storage/s3.test.ts",
  "test/jobs/schedule.test.ts",
  "test/knowledge/reading/parse.test.ts",
  "test/limits/address-table.test.ts",
  "test/llm/reply-stream-fuzz.test.ts",
  "test/scripts/release.test.ts",
  "test/store/sqlite-erasure.test.ts",
  "test/turns/random-turns.test.ts",
]);

/**
 * What a minute of processor time is enough for: those that need no other program, not the executable, and start neither
 * servers nor processes; and of those that do one for each of the store's contracts, as on PostgreSQL.
 */
export function isQuick(file: TestFile): boolean {
  if (leftToGate.has(file.path)) return false;
  return !file.isWhole && !file.needsExecutable && file.programs.length === 0 ? !file.isFullOnly : file.isOnEachEngine;
}

/** Those that may run side by side: the quick ones, and those that need a database server at most. */
export function isParallel(file: TestFile): boolean {
  return file.programs.every((program) => program.isQuiet) && !file.needsExecutable;
}

const transpilers = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

/** The file and all that it imports from the tests and the faults, by path; nothing of the program itself. */
function readWithImports(path: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(path) || !/^(test|faults)\//.test(relative(root, path)) || !existsSync(path)) return found;
  const source = readFileSync(path, "utf8");
  found.set(path, source);
  const { imports } = transpilers[path.endsWith("x") ? "tsx" : "ts"].scan(source);
  for (const { path: name } of imports) {
    if (name.startsWith(".") && /\.tsx?$/.test(name)) readWithImports(join(dirname(path), name), found);
  }
  return found;
}
