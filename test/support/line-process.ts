/** Child processes that tests communicate with by lines. */
import { join } from "node:path";

export interface LineProcess {
  /** The next line of output; null at the end. */
  readLine(): Promise<string | null>;
  writeLine(line: string): void;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

export function startSqliteProcess(action: string, dataDir: string): LineProcess {
  return startLineProcess("sqlite-process.ts", action, dataDir);
}

/** `script`: a file beside this one. It should end with its standard input. */
export function startLineProcess(script: string, ...parameters: string[]): LineProcess {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), ...parameters], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = readLines(child.stdout);
  return {
    readLine: async () => (await lines.next()).value ?? null,
    writeLine(line) {
      child.stdin.write(`${line}\n`);
      child.stdin.flush();
    },
    kill: (signal) => child.kill(signal),
    exited: child.exited,
  };
}

export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, null> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  return null;
}
