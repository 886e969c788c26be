/** Why a server does not start: what is said of it, where, and with which exit code. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Action } from "../../src/cli/command.ts";
import { type CliOptions, type CliOutcome, runCommand } from "../support/cli.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let dir: TemporaryDirectory;
beforeAll(() => {
  dir = temporaryDirectory();
});
afterAll(() => dir[Symbol.dispose]());

/** Stops as soon as it serves. */
function serve(words: readonly string[] = [], options: CliOptions = {}): Promise<CliOutcome> {
  const environment = { PORT: "0", ...options.environment };
  return runCommand(["serve", "--data-dir", dir.file("data"), ...words], { ...options, environment });
}

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

function failed(exitCode: number, ...problems: unknown[]): Record<string, unknown> {
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  return { time, level: "error", event: "serve failed", problems, exit_code: exitCode };
}

describe("a failure to start", () => {
  const environment = { COMPANIOND_LOG: "loud", OPENAI_API_KEY: "sk two words" };
  const problems = [
    'COMPANIOND_LOG must be one of debug, info, warn, error, not "loud".',
    "OPENAI_API_KEY must be one line of printable ASCII characters without spaces.",
  ];

  test("is one line of JSON where the log is JSON, and nothing else", async () => {
    const { exitCode, stdout, stderr } = await serve([], { environment });
    expect({ exitCode, stderr, lines: linesOf(stdout) }).toEqual({
      exitCode: 2,
      stderr: "",
      lines: [failed(2, ...problems)],
    });
  });

  test("is on standard error as well where that goes elsewhere: as the line, or at a terminal as text", async () => {
    const elsewhere = await serve([], { environment, errorTarget: "elsewhere" });
    expect([linesOf(elsewhere.stdout), linesOf(elsewhere.stderr)]).toEqual([
      [failed(2, ...problems)],
      [failed(2, ...problems)],
    ]);
    const terminal = await serve([], { environment, errorTarget: "terminal" });
    expect([linesOf(terminal.stdout), terminal.stderr]).toEqual([
      [failed(2, ...problems)],
      ["companiond: the configuration has problems:", ...problems, ""].join("\n"),
    ]);
  });

  test("is in the log's stream with --json too, at a terminal and elsewhere", async () => {
    for (const isTerminal of [true, false]) {
      const { exitCode, stdout, stderr } = await serve(["--json"], { environment, isTerminal });
      expect({ exitCode, stdout, lines: linesOf(stderr) }).toEqual({
        exitCode: 2,
        stdout: "",
        lines: [failed(2, ...problems)],
      });
    }
  });

  test("is text for people at a terminal", async () => {
    const { exitCode, stdout, stderr } = await serve([], { environment, isTerminal: true });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: ["companiond: the configuration has problems:", ...problems, ""].join("\n"),
    });
  });

  test.each([
    [["--prot", "1"], 2, "unknown option --prot. Did you mean --port? See companiond serve --help"],
    [["--port", "http"], 2, '--port must be a whole number from 0 to 65535, not "http".'],
    [["--env-file", "absent.env"], 2, "--env-file: there is no such file: absent.env"],
    [
      ["--tls-cert", "absent.pem", "--tls-key", "absent.pem"],
      2,
      expect.stringContaining("--tls-cert (COMPANIOND_TLS_CERT): ENOENT"),
    ],
    [["--host", "192.0.2.1", "--demo"], 1, expect.stringContaining("192.0.2.1 is not an address of this machine.")],
  ])("by %j has exit code %d and says why", async (words, exitCode, problem) => {
    const outcome = await serve(words);
    expect(linesOf(outcome.stdout).at(-1)).toEqual(failed(exitCode, problem));
    expect([outcome.exitCode, outcome.stderr]).toEqual([exitCode, ""]);
  });

  test("by a taken port comes last in the log, after what was logged before", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("something else") });
    const { exitCode, stdout } = await serve(["--port", String(other.port)]);
    await other.stop(true);
    const lines = linesOf(stdout);
    expect(exitCode).toBe(1);
    expect(lines[0]).toMatchObject({ level: "warn", event: expect.stringContaining("built-in demo") });
    expect(lines.at(-1)).toEqual(failed(1, expect.stringContaining("is in use by another program")));
  });

  test("that nobody expected has its error in the line", async () => {
    const run = () => Promise.reject(new TypeError("x is not a function"));
    const action: Action = { name: "", about: "Fails.", data: "none", hasLog: true, run };
    const options = { commands: [{ name: "probe", about: "Fails.", actions: [action] }] };
    const { exitCode, stdout, stderr } = await runCommand(["probe"], options);
    expect([exitCode, stderr]).toEqual([1, ""]);
    expect(linesOf(stdout)).toEqual([
      {
        ...failed(1, "unexpected error: x is not a function"),
        error: expect.objectContaining({ name: "TypeError", stack: expect.stringContaining("serve-failures.test.ts") }),
      },
    ]);
  });
});

describe("without a language model", () => {
  test.each([
    [["--host", "0.0.0.0"], {}],
    [["--host", "::"], {}],
    [[], { HOST: "192.0.2.1" }],
    [[], { COMPANIOND_DOMAIN: "chat.example.com" }],
    [["--host", "127.0.0.1"], { COMPANIOND_DOMAIN: "chat.example.com" }],
  ])("refuses to serve %j %j, and says what to set", async (words, environment) => {
    const { exitCode, stdout } = await serve(words, { environment });
    const [line] = linesOf(stdout);
    expect(exitCode).toBe(2);
    expect(line).toEqual(failed(2, expect.stringContaining("no language model is configured")));
    for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL", "COMPANIOND_PROVIDERS_FILE", "--demo"]) {
      expect(JSON.stringify(line)).toContain(name);
    }
  });

  test("serves with --demo anywhere, and on loopback without", async () => {
    for (const words of [
      ["--host", "0.0.0.0", "--demo"],
      ["--host", "127.0.0.1"],
      ["--host", "localhost"],
    ]) {
      const { exitCode, stdout } = await serve(words);
      const events = linesOf(stdout).map(({ event }) => event);
      expect({ words, exitCode, isServing: events.includes("listening") }).toEqual({
        words,
        exitCode: 0,
        isServing: true,
      });
      expect(events).toContain("no language model is configured: the built-in demo replies");
    }
  });

  test.each([{ COMPANIOND_TRUST_PROXY: "1" }, { COMPANIOND_PUBLIC_URL: "https://chat.example.com" }])(
    "warns once more where a proxy brings visitors: %j",
    async (environment) => {
      const { exitCode, stdout } = await serve([], { environment });
      expect(exitCode).toBe(0);
      expect(linesOf(stdout)).toContainEqual(
        expect.objectContaining({ level: "warn", event: "visitors are answered by the built-in demo" }),
      );
    },
  );

  test("is not the matter anywhere with a model", async () => {
    for (const environment of [{ OPENAI_API_KEY: "sk-x" }, { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }]) {
      const { exitCode, stdout } = await serve(["--host", "0.0.0.0"], { environment });
      expect(exitCode).toBe(0);
      expect(stdout).not.toContain("demo");
    }
  });
});

test("any other command says on standard error which variables have no effect, and does its work", async () => {
  const environment = { OPENAI_ORG_ID: "org-secret" };
  const words = ["account", "create", "--email", "e@shop.example", "--data-dir", dir.file("told"), "--json"];
  const { exitCode, stdout, stderr } = await runCommand(words, { environment });
  expect([exitCode, JSON.parse(stdout).email]).toEqual([0, "e@shop.example"]);
  expect(stderr).toMatch(/^companiond: warning: OPENAI_ORG_ID has no effect: .*\n$/);
  expect(stderr).not.toContain("org-secret");
  const examined = await runCommand(["doctor", "--data-dir", dir.file("told")], { environment });
  expect([examined.stderr, examined.stdout.match(/OPENAI_ORG_ID has no effect/g)?.length]).toEqual(["", 1]);
});

test("a server logs which variables have no effect, without their values", async () => {
  const { exitCode, stdout } = await serve([], { environment: { OPENAI_ORG_ID: "org-secret" } });
  expect(exitCode).toBe(0);
  expect(linesOf(stdout)).toContainEqual(
    expect.objectContaining({
      level: "warn",
      event: "a variable has no effect",
      problem: expect.stringMatching(/^OPENAI_ORG_ID has no effect: /),
    }),
  );
  expect(stdout).not.toContain("org-secret");
});
