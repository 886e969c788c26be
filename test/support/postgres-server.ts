/**
 * A PostgreSQL server for tests, as Debian 12 packages it: its own data in a temporary directory, a free port on
 * loopback. It ends with the test process, however that ends.
 */
import { appendFileSync, chownSync, existsSync, readFileSync } from "node:fs";
import { eventually, inTime } from "./eventually.ts";
import { findFreePort } from "./free-port.ts";
import { readLines } from "./line-process.ts";
import { databasesOf, type PostgresDatabases } from "./postgres-databases.ts";
import { hasEnded, killWithChildren } from "./processes.ts";
import { quickDirectory, temporaryDirectory } from "./temporary.ts";

const serverProgram = "/usr/lib/postgresql/15/bin/postgres";
const initProgram = "/usr/lib/postgresql/15/bin/initdb";

export interface PostgresServer extends PostgresDatabases, AsyncDisposable {
  /** Without a path. */
  readonly serverUrl: string;
  readonly port: number;
  /** Of the postmaster that runs, or ran last. */
  readonly pid: number;
  /** What the server has logged so far. */
  log(): string;
  /** `fast` ends the connections, `immediate` also skips the checkpoint. */
  stop(mode?: "fast" | "immediate"): Promise<void>;
  /** Kills the postmaster and all its processes at the same time, as a power cut does. */
  crash(): Promise<void>;
  /** Again on the same port and data, after `stop` or `crash`. Resolves when it accepts connections. */
  start(): Promise<void>;
}

export interface PostgresOptions {
  /** True: writes reach the disk before they are acknowledged. Otherwise a crash of the machine could lose them. */
  isDurable?: boolean;
  /** Further settings of `postgresql.conf`. */
  settings?: Readonly<Record<string, string>>;
  /** A further address of this machine to listen on; all of its network are let in. */
  address?: string | undefined;
}

const commonSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "300",
  shared_buffers: "32MB",
  synchronous_commit: "on",
  // What lies in memory is not to grow to the gigabyte that is usual.
  max_wal_size: "256MB",
  // Neither replicas nor archives: creating a database is cheaper.
  wal_level: "minimal",
  max_wal_senders: "0",
  jit: "off",
};

const carelessSettings = { fsync: "off", full_page_writes: "off" };

/**
 * Runs as the parent of the server, and reads its orders from the test process: their end is the end of that process,
 * even if that was killed.
 */
const guardian = `
exec 2>>"$LOG"
trap '' INT TERM HUP
while read -r order; do
  case $order in
    start) "$@" </dev/null >>"$LOG" 2>&1 & pid=$!; echo "$pid" ;;
    reap) wait "$pid"; echo ended; pid= ;;
  esac
done
if [ -n "$pid" ]; then kill -QUIT "$pid"; wait "$pid"; fi
rm -rf "$DIRECTORY"
`;

export async function startPostgresServer(options: PostgresOptions = {}): Promise<PostgresServer> {
  using undo = new DisposableStack();
  const directory = undo.use(options.isDurable ? temporaryDirectory() : quickDirectory());
  const dataDir = directory.file("data");
  if (isRoot()) chownSync(directory.path, ...ownerIds());
  await initialize(dataDir);
  const port = findFreePort();
  const settings = {
    ...commonSettings,
    ...(options.isDurable ? {} : carelessSettings),
    port: String(port),
    ...(options.address === undefined ? {} : { listen_addresses: `127.0.0.1,${options.address}` }),
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  appendFileSync(`${dataDir}/postgresql.conf`, lines.join(""));
  if (options.address !== undefined) appendFileSync(`${dataDir}/pg_hba.conf`, "host all all samenet trust\n");

  const child = Bun.spawn(["/bin/sh", "-c", guardian, "guardian", ...asOwner(), serverProgram, "-D", dataDir], {
    // The working directory must be one that the server's user can enter.
    cwd: directory.path,
    env: { PATH: "/usr/bin:/bin", LOG: directory.file("log"), DIRECTORY: directory.path },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  // From here on the directory is the guardian's to delete.
  undo.move();
  const answers = readLines(child.stdout);
  const order = async (word: "start" | "reap"): Promise<string> => {
    child.stdin.write(`${word}\n`);
    child.stdin.flush();
    return String((await answers.next()).value);
  };
  let pid = 0;
  let isRunning = false;
  const log = () => readFileSync(directory.file("log"), "utf8");
  const readLock = () =>
    Bun.file(`${dataDir}/postmaster.pid`)
      .text()
      .catch(() => "");

  const server: PostgresServer = {
    ...databasesOf(`postgres://postgres@127.0.0.1:${port}`),
    serverUrl: `postgres://postgres@127.0.0.1:${port}`,
    port,
    get pid() {
      return pid;
    },
    log,
    async start() {
      if (isRunning) throw new Error("PostgreSQL runs already");
      const logged = existsSync(directory.file("log")) ? log().length : 0;
      pid = Number(await order("start"));
      isRunning = true;
      await eventually(async () => {
        if (hasEnded(pid)) {
          // Killed processes leave their shared memory a moment later than their parent is notified of their end.
          if (!log().slice(logged).includes("shared memory block")) throw new Error(`PostgreSQL ended:\n${log()}`);
          await order("reap");
          pid = Number(await order("start"));
        }
        const lock = (await readLock()).split("\n");
        return lock[0] === String(pid) && lock[7]?.trim() === "ready";
      });
    },
    async stop(mode = "fast") {
      if (!isRunning) return;
      isRunning = false;
      process.kill(pid, mode === "fast" ? "SIGINT" : "SIGQUIT");
      await inTime(order("reap"), { what: `the end of PostgreSQL (${mode})` });
    },
    async crash() {
      if (!isRunning) return;
      isRunning = false;
      killWithChildren(pid);
      await inTime(order("reap"), { what: "the end of PostgreSQL (killed)" });
    },
    async [Symbol.asyncDispose]() {
      await server.stop("immediate");
      child.stdin.end();
      await child.exited;
    },
  };
  try {
    await server.start();
  } catch (error) {
    child.stdin.end();
    await child.exited;
    throw error;
  }
  return server;
}

/** Of the process: the test files that run in one have modules of their own. */
const ofProcess = globalThis as { companiondTestPostgres?: Promise<PostgresServer> };

/** The gate's server, or one that ends with this process. No test may stop it. */
export async function sharedPostgres(): Promise<PostgresDatabases & { readonly serverUrl: string }> {
  const serverUrl = process.env["COMPANIOND_TEST_POSTGRES"];
  if (serverUrl !== undefined) return { ...databasesOf(serverUrl), serverUrl };
  ofProcess.companiondTestPostgres ??= startPostgresServer();
  return await ofProcess.companiondTestPostgres;
}

/** Where the gate has the data of a new server for all that start one: copying it takes a tenth of the time of making it. */
const made = "COMPANIOND_TEST_POSTGRES_DATA";

/** For this process and those that it starts, until the end. */
export async function provideData(): Promise<AsyncDisposable> {
  const directory = quickDirectory();
  if (isRoot()) chownSync(directory.path, ...ownerIds());
  const dataDir = directory.file("data");
  await initialize(dataDir);
  process.env[made] = dataDir;
  return {
    async [Symbol.asyncDispose]() {
      delete process.env[made];
      directory[Symbol.dispose]();
    },
  };
}

async function initialize(dataDir: string): Promise<void> {
  const ready = process.env[made];
  if (ready !== undefined) return await runToEnd(["/bin/cp", "--archive", ready, dataDir]);
  const command = [initProgram, "-D", dataDir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"];
  await runToEnd([...asOwner(), ...command, "--no-sync", "--no-instructions"]);
}

async function runToEnd(command: readonly string[]): Promise<void> {
  const env = { PATH: "/usr/bin:/bin" };
  const child = Bun.spawn([...command], { cwd: "/", env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const output = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${output}`);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** PostgreSQL refuses to run as root. The command becomes the server's process, with no other in between. */
function asOwner(): string[] {
  return isRoot() ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
}

/** The user that Debian's package creates. */
function ownerIds(): [uid: number, gid: number] {
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  if (uid === undefined || gid === undefined) throw new Error("there is no user postgres to run PostgreSQL as");
  return [Number(uid), Number(gid)];
}
