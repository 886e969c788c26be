/** What others use on the API document: generators of clients and linters, from packages of their own. */
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
/**
 * With a manifest of its own: the generators need TypeScript's old programming interface, and no one who only runs the
 * server waits for all this.
 */
export const apiToolsFolder = join(root, "test", "api-tools");

const install = [process.execPath, "install", "--frozen-lockfile", "--cwd", apiToolsFolder];

export const apiTools = {
  generate: join(apiToolsFolder, "generate.mjs"),
  redocly: join(apiToolsFolder, "node_modules/@redocly/cli/bin/cli.js"),
  spectral: join(apiToolsFolder, "node_modules/@stoplight/spectral-cli/dist/index.js"),
  tsc: join(root, "node_modules/.bin/tsc"),
};

/** The gate installs them beforehand; a single test that is run alone may have to. */
export function installApiTools(): void {
  if (existsSync(apiTools.spectral)) return;
  const { success, stderr } = Bun.spawnSync(install, { stdout: "ignore", stderr: "pipe" });
  if (!success) throw new Error(`The tools for the API document could not be installed:\n${stderr}`);
}

export interface ToolRun {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** Runs to the end. No tool may check for updates of itself, or report anywhere that it ran. */
export async function runTool(script: string, args: readonly string[], options: RunOptions = {}): Promise<ToolRun> {
  const command = script.endsWith("/tsc") ? [script, ...args] : [process.execPath, script, ...args];
  const child = Bun.spawn(command, {
    cwd: options.cwd ?? root,
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

interface RunOptions {
  cwd?: string;
  env?: Readonly<Record<string, string>>;
}
