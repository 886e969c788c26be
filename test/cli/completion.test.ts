/** `companiond completion`: bash itself completes with it; for zsh and fish see `shell-completion.test.ts`. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { commands } from "../../src/cli/commands.ts";
import { plans, scopes } from "../../src/domain/account.ts";
import { runCommand, runJson } from "../support/cli.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const names = commands.filter((command) => !command.isHidden).map(({ name }) => name);
const common = ["--data-dir", "--env-file", "--json", "--help"];

let dir: TemporaryDirectory;
beforeAll(async () => {
  dir = temporaryDirectory();
  writeFileSync(dir.file("bash"), (await runCommand(["completion", "bash"])).stdout);
  mkdirSync(dir.file("here/sub folder"), { recursive: true });
  for (const name of ["a file.pem", "*"]) writeFileSync(dir.file(`here/${name}`), "");
});
afterAll(() => dir[Symbol.dispose]());

function run(...command: string[]): string[] {
  const done = Bun.spawnSync(command, { cwd: dir.file("here"), env: { HOME: dir.path, LC_ALL: "C.UTF-8" } });
  expect({ command, stderr: done.stderr.toString() }).toEqual({ command, stderr: "" });
  return done.stdout.toString().split("\n").filter(Boolean);
}

/** Fails unless there is a function for the name. */
const bashDriver = `
source "$1"
shift
complete -p companiond >/dev/null
COMP_WORDS=(companiond "$@")
COMP_CWORD=$#
_companiond
printf "%s\\n" "\${COMPREPLY[@]}"
`;

/** What bash offers for the last of the words. */
function complete(...words: string[]): string[] {
  return run("/bin/bash", "--norc", "-eu", "-c", bashDriver, "bash", dir.file("bash"), ...words);
}

test("bash offers commands, actions and options, and nothing that the help does not list", () => {
  expect(complete("")).toEqual([...names, "help", "--help", "--version"]);
  expect(complete("kn")).toEqual(["knowledge"]);
  expect(complete("read-d")).toEqual([]);
  expect(complete("help", "ba")).toEqual(["backup", "backups"]);
  expect(complete("key", "")).toEqual(["create", "list", "revoke", "--help"]);
  expect(complete("key", "re")).toEqual(["revoke"]);
  expect(complete("key", "revoke", "--")).toEqual(common);
  expect(complete("version", "--j")).toEqual(["--json"]);
  expect(complete("nothing", "")).toEqual([]);
});

test("bash offers files and folders where one belongs, whatever they are called, and nothing for other values", () => {
  expect(complete("restore", "").sort()).toEqual(["*", "a file.pem", "s3:", "sub folder"]);
  expect(complete("restore", "a").sort()).toEqual(["a file.pem"]);
  expect(complete("restore", "--e")).toEqual(["--env-file"]);
  expect(complete("key", "list", "--env-file", "a")).toEqual(["a file.pem"]);
  expect(complete("serve", "--data-dir", "")).toEqual(["sub folder"]);
  // As bash separates --data-dir=s.
  expect(complete("serve", "--data-dir", "=", "s")).toEqual(["sub folder"]);
  expect(complete("serve", "--data-dir", "=")).toEqual(["sub folder"]);
  expect(complete("serve", "--port", "")).toEqual([]);
});

test("bash offers the values of options and operands that have no others", () => {
  expect(complete("account", "create", "--plan", "")).toEqual([...plans]);
  expect(complete("account", "create", "--role", "=", "op")).toEqual(["operator"]);
  expect(complete("account", "set-plan", "")).toEqual(common);
  expect(complete("account", "set-plan", "--data-dir", "d", "ada@example.com", "")).toEqual([...plans]);
  expect(complete("account", "set-plan", "--json", "ada", "@", "example.com", "p")).toEqual(["paid"]);
  expect(complete("copy", "--from", "sq")).toEqual(["sqlite", "sqlite:"]);
  expect(complete("completion", "f")).toEqual(["fish"]);
  expect(complete("knowledge", "add", "https", ":", "//example.com/", "a")).toEqual(["a file.pem"]);
  // Bash takes a:b for three words, and replaces the last of them.
  const create = ["key", "create", "--scopes"];
  expect(complete(...create, "")).toEqual([...scopes]);
  expect(complete(...create, "keys", ":", "r")).toEqual(["read"]);
  expect(complete(...create, "keys", ":")).toEqual(["read", "write"]);
  expect(complete(...create, "=", "keys", ":", "read,keys", ":", "")).toEqual(["write"]);
  expect(complete(...create, "chat", ":", "write,c").filter((one) => one.includes("chat:write,chat"))).toEqual([]);
});

test("the options of every action are offered", async () => {
  for (const command of await Promise.all(commands.filter((one) => !one.isHidden).map((one) => one.load()))) {
    for (const { name, options } of command.actions) {
      const words = [command.name, name].filter((word) => word !== "");
      const expected = [...Object.keys(options ?? {}).map((option) => `--${option}`), ...common];
      expect({ words, offered: complete(...words, "--") }).toEqual({ words, offered: [...new Set(expected)] });
    }
  }
});

test("the script is a field of the JSON value, and an unknown shell is refused with those that there are", async () => {
  expect(await runJson(["completion", "fish"])).toMatchObject({ shell: "fish", script: expect.any(String) });
  const { exitCode, stderr } = await runCommand(["completion", "tcsh"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('unknown action "completion tcsh".');
  expect((await runCommand(["completion"])).stderr).toContain("completion needs one of: bash, zsh, fish.");
});
