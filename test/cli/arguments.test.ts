/** What every command does with its arguments, its help and its failures. */
import { expect, test } from "bun:test";
import { type Action, type Command, CommandFailure, file, free, type OptionSpec } from "../../src/cli/command.ts";
import { AppError, invalidFields } from "../../src/domain/errors.ts";
import { runCommand } from "../support/cli.ts";

const options: Record<string, OptionSpec> = {
  name: { value: free("name"), about: "A name.", isRequired: true },
  tag: { value: free("tag"), short: "t", about: "A tag.", isRepeatable: true },
  loud: { about: "Louder." },
};

function probe(run: Action["run"]): Command {
  return {
    name: "probe",
    about: "Probes.",
    actions: [{ name: "", about: "Probes.", operands: [{ value: file }], options, data: "none", run }],
  };
}

const echo = probe(async ({ args }) => ({
  json: { name: args.text("name"), tags: args.list("tag"), loud: args.has("loud"), file: args.operand(0) },
  text: "said",
}));

async function run(words: string[], command = echo) {
  return runCommand(["probe", ...words], { commands: [command] });
}

test("reads options in any order, repeated ones, and both forms of values", async () => {
  const { stdout } = await run(
    ["-t", "a", "file.txt", "--loud", "--tag=b=c", "--name", "-n", "--json"].map((word) =>
      word === "-n" ? "N" : word,
    ),
  );
  expect(JSON.parse(stdout)).toEqual({ name: "N", tags: ["a", "b=c"], loud: true, file: "file.txt" });
});

test("passes everything after -- unchanged", async () => {
  const { stdout } = await run(["--name", "N", "--json", "--", "--odd-file"]);
  expect(JSON.parse(stdout).file).toBe("--odd-file");
});

test("prints text for people, and one JSON value with --json", async () => {
  expect(await run(["--name", "N", "f"])).toEqual({ exitCode: 0, stdout: "said\n", stderr: "" });
  const { stdout } = await run(["--name", "N", "f", "--json"]);
  expect(stdout).toBe('{"name":"N","tags":[],"loud":false,"file":"f"}\n');
});

test.each([
  [[], "missing --name <name>."],
  [["--name", "N"], "missing <file>."],
  [["--name", "", "f"], "missing --name <name>."],
  [["--name", "N", "f", "g"], 'unexpected argument "g".'],
  [["--name", "N", "--name", "M", "f"], "--name was given twice."],
  [["--nmae", "N", "f"], "unknown option --nmae. Did you mean --name?"],
  [["-n", "N", "f"], "unknown option -n. Did you mean --name?"],
  [["--constructor", "f"], "unknown option --constructor.\n"],
  [["--loud=yes", "--name", "N", "f"], "--loud takes no value."],
  [["f", "--name"], "--name needs a value: <name>."],
])("refuses %j with exit code 2 and says why", async (words, sentence) => {
  const { exitCode, stdout, stderr } = await run(words);
  expect(stderr).toContain(sentence);
  expect(stderr).toEndWith("See companiond probe --help\n");
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
});

test.each(["--help", "-h"])("shows the help of an action for %s, whatever else is wrong", async (word) => {
  const { exitCode, stdout, stderr } = await run([word]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toContain("Usage: companiond probe --name <name> [options] <file>");
  for (const option of [
    "--name <name>",
    "-t, --tag <tag>",
    "--loud",
    "--data-dir <directory>",
    "--env-file <file>",
    "--json",
  ]) {
    expect(stdout).toContain(`  ${option}`);
  }
});

test.each([
  [[], 2],
  [["--help"], 0],
  [["help"], 0],
])("shows all commands for %j with exit code %d", async (words, exitCode) => {
  const outcome = await runCommand(words);
  expect(outcome.exitCode).toBe(exitCode);
  const shown = exitCode === 0 ? outcome.stdout : outcome.stderr;
  for (const name of ["serve", "account create", "key revoke", "companion token", "migrate", "version"]) {
    expect(shown).toContain(`  ${name} `);
  }
});

test.each([
  [["sevre"], 'unknown command "sevre". Did you mean serve?'],
  [["nosuch"], 'unknown command "nosuch".\nSee companiond --help\n'],
  [["--json", "version"], "the command comes first, then its options."],
  [
    ["account"],
    "account needs one of: create, list, set-plan, suspend, resume, delete, reset-link, reset-totp, reset-visitor-keys, reset-tools, reset-webhooks, setup-link, g",
  ],
  [["key", "--json"], "key needs one of: create, list, revoke."],
  [["key", "remove"], 'unknown action "key remove". Did you mean revoke?'],
  [["key", "nosuch"], 'unknown action "key nosuch".\nSee companiond key --help\n'],
])("refuses %j with exit code 2", async (words, sentence) => {
  const { exitCode, stdout, stderr } = await runCommand(words);
  expect(stderr).toContain(sentence);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
});

test.each([
  [["help", "serve"], "Usage: companiond serve [options]"],
  [["serve", "help"], "Usage: companiond serve [options]"],
  [["key", "help"], "  key revoke  Revoke a key"],
  [["help", "key", "create"], "Usage: companiond key create --account <email>"],
  [["help", "key"], "  key revoke  Revoke a key"],
])("shows for %j what that word is for", async (words, shown) => {
  const { exitCode, stdout } = await runCommand(words);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(shown);
});

test("help for an unknown command is wrong usage", async () => {
  const { exitCode, stderr } = await runCommand(["help", "sevre"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("Did you mean serve?");
});

test("shows a command's actions on --help", async () => {
  const { exitCode, stdout } = await runCommand(["key", "--help"]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain("  key revoke  Revoke a key and all keys created with it");
});

test.each([
  ["an expected failure", new CommandFailure("the sentence."), "companiond: the sentence.\n"],
  ["an error with fields", invalidFields([{ param: "email", detail: "Taken." }]), "\n  email: Taken.\n"],
  [
    "an error with a cause",
    new AppError("unavailable", "Storage is full.", { cause: new Error("SQLITE_FULL") }),
    "SQLITE_FULL",
  ],
  ["a defect", new TypeError("x is undefined"), "unexpected error: TypeError: x is undefined"],
])("ends with exit code 1 on %s, reported on standard error only", async (_, error, sentence) => {
  const { exitCode, stdout, stderr } = await run(
    ["--name", "N", "f", "--json"],
    probe(() => Promise.reject(error)),
  );
  expect(stderr).toContain(sentence);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
});

test("reports all problems of the configuration, with exit code 2", async () => {
  const environment = { PORT: "x", COMPANIOND_LOGS: "info" };
  const command = probe(async ({ loadConfig }) => ({ json: null, text: loadConfig().dataDir }));
  const outcome = await runCommand(["probe", "--name", "N", "f"], { environment, commands: [command] });
  expect(outcome).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: [
      "companiond: the configuration has problems:",
      "COMPANIOND_LOGS is not a setting. Did you mean COMPANIOND_LOG?",
      'PORT must be a whole number from 0 to 65535, not "x".',
      "",
    ].join("\n"),
  });
});

test("shows the version even with an invalid configuration", async () => {
  const { exitCode, stdout } = await runCommand(["version", "--json"], { environment: { PORT: "x" } });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/), commit: null });
});
