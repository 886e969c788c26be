/** Runs `companiond serve …`, or the sources with `--demo`, until it listens, stops it as an operator does, and ends as it ended. */
import { resolve } from "node:path";
import { startExecutable } from "./executable.ts";

const [, , , ...args] = process.argv;
// Address, port and data are the test's: the server of the page may be running already.
const own = args
  .filter((argument, at) => !isPlace(argument) && !isPlace(args[at - 1]))
  .map((argument, at, all) => (all[at - 1] === "--env-file" ? resolve(argument) : argument));
await using server = await startExecutable({
  args: own,
  env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", ...chosen() },
});
const health = await fetch(`${server.url}/healthz`);
process.exitCode = health.ok ? await server.stop() : 1;

function isPlace(argument: string | undefined): boolean {
  return argument === "--data-dir" || argument === "--host" || argument === "--port";
}

/** What the line before the command has set. */
function chosen(): Record<string, string> {
  const names = Object.entries(process.env).filter(([name]) => /^(OPENAI|ELEVENLABS|COMPANIOND)_/.test(name));
  return Object.fromEntries(names.filter(([name]) => name !== "COMPANIOND_DATA_DIR")) as Record<string, string>;
}
