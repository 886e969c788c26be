/** From spawn to the first answer, idle memory and size, against a hello-world Elysia executable built alike. */
import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pinned, residentKiB, serverCore, stop } from "./load/processes.ts";
import { freePort } from "./rivals/start.ts";

export interface StartFigures {
  firstResponseMs: number;
  idleKiB: number;
  sizeMiB: number;
}

const root = join(import.meta.dir, "..");

/** How one executable is started, and what it answers then. */
export interface Starter {
  command: (port: number) => string[];
  path: string;
  executable: string;
  environment: Record<string, string>;
}

/** Medians over `rounds` of the time from spawn to the first 200; the executables take turns. */
export async function measureStarts(starters: readonly Starter[], rounds: number): Promise<StartFigures[]> {
  const runs = starters.map((starter) => ({ starter, times: [] as number[], idleKiB: 0 }));
  for (let round = 0; round < rounds; round++) {
    for (const run of runs) {
      const { command, path, environment } = run.starter;
      const port = await freePort();
      const startedMs = performance.now();
      const child = Bun.spawn(pinned(serverCore, command(port)), {
        stdout: "ignore",
        stderr: "ignore",
        env: environment,
      });
      await untilAnswered(`http://127.0.0.1:${port}${path}`);
      run.times.push(performance.now() - startedMs);
      if (round === rounds - 1) {
        await Bun.sleep(1_000);
        run.idleKiB = residentKiB(child.pid);
      }
      // After a clean end, not after a crash: a database has nothing to recover then.
      await stop(child);
    }
  }
  return runs.map(({ starter, times, idleKiB }) => {
    times.sort((a, b) => a - b);
    const firstResponseMs = times[Math.floor(times.length / 2)] ?? Number.NaN;
    return { firstResponseMs, idleKiB, sizeMiB: statSync(starter.executable).size / 1024 / 1024 };
  });
}

async function untilAnswered(url: string): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(url, { keepalive: false });
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      // Not listening yet.
    }
    await Bun.sleep(0.3);
  }
}

/** Builds the hello-world executable with the same switches and returns its path. */
export async function buildHelloWorld(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "companiond-hello-"));
  const source = join(root, "bench/rivals/generated-hello.ts");
  writeFileSync(
    source,
    `import { Elysia } from "elysia";
new Elysia().get("/", () => "hello").listen({ hostname: "127.0.0.1", port: Number(process.argv[2]) });
`,
  );
  const output = join(directory, "hello");
  const switches = [
    "--compile",
    "--minify",
    "--bytecode",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
  ];
  const built = Bun.spawnSync([process.execPath, "build", ...switches, source, "--outfile", output], { cwd: root });
  await Bun.file(source).delete();
  if (built.exitCode !== 0) throw new Error(built.stderr.toString());
  return output;
}
