/** Which names are taken, in the environment and in an env file, by the server and by commands. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, loadConfig, loadReleases } from "../../src/config/config.ts";
import { runCommand } from "../support/cli.ts";

const dir = mkdtempSync(join(tmpdir(), "companiond-names-"));
afterAll(() => rmSync(dir, { recursive: true }));
const envFilePath = join(dir, "companiond.env");

function read(environment: Record<string, string>, envFile?: string): { problems: string[]; warnings: string[] } {
  if (envFile !== undefined) writeFileSync(envFilePath, envFile);
  try {
    const sources = { environment, ...(envFile === undefined ? {} : { envFilePath }) };
    return { problems: [], warnings: [...loadConfig(sources).warnings] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems.map(({ sentence }) => sentence), warnings: [] };
  }
}

describe("in the environment", () => {
  test.each([
    ["COMPANIOND_RATE_PER_IPP", "COMPANIOND_RATE_PER_IP"],
    ["COMPANIOND_MODEL_FILE", "COMPANIOND_MODEL"],
    ["COMPANIOND_METRIC_TOKEN_FILE", "COMPANIOND_METRICS_TOKEN_FILE"],
    ["COMPANIOND_PORT", "PORT"],
    ["COMPANIOND_OPENAI_API_KEY", "OPENAI_API_KEY"],
    ["OPENAI_API_KEYS", "OPENAI_API_KEY"],
    ["OPENAI_BASEURL", "OPENAI_BASE_URL"],
    ["OPENAI_API_BASE", "OPENAI_BASE_URL"],
    ["OPENAI_MODEL", "COMPANIOND_MODEL"],
    ["ELEVENLABS_APIKEY", "ELEVENLABS_API_KEY"],
    ["ELEVENLABS_WEBHOOK_SECRETS", "ELEVENLABS_WEBHOOK_SECRET"],
  ])("refuses the unknown %s and names %s", (unknown, nearest) => {
    expect(read({ [unknown]: "1" }).problems).toEqual([`${unknown} is not a setting. Did you mean ${nearest}?`]);
  });

  test.each(["COMPANIOND_NO_SUCH_SETTING", "OPENAI_X", "ELEVENLABS_VOICE_ID"])(
    "refuses %s, which is near no other, and says where all are",
    (unknown) => {
      const sentence = `${unknown} is not a setting. See companiond serve --help for those that there are.`;
      expect(read({ [unknown]: "1" }).problems).toEqual([sentence]);
    },
  );

  test("takes no notice of other programs' names, nor of empty ones", () => {
    const environment = { PATH: "/bin", DATABASE_URI: "x", PORTS: "1", XI_API_KEY: "x", OPENAI_TYPO: "" };
    expect(read(environment)).toEqual({ problems: [], warnings: [] });
  });

  test("accepts what OpenAI's own libraries know, and says what to set instead", () => {
    const environment = { OPENAI_ORG_ID: "org-secret", OPENAI_LOG: "debug", OPENAI_CUSTOM_HEADERS: "a: secret" };
    const { problems, warnings } = read(environment);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'OPENAI_ORG_ID has no effect: only OpenAI\'s own libraries read it. To send it, set COMPANIOND_LLM_HEADERS to {"OpenAI-Organization":"…"}.',
      "OPENAI_LOG has no effect: only OpenAI's own libraries read it.",
      "OPENAI_CUSTOM_HEADERS has no effect: only OpenAI's own libraries read it. For headers, set COMPANIOND_LLM_HEADERS.",
    ]);
  });
});

test("tells of what is meant for a provider that is not there", () => {
  const environment = { COMPANIOND_LLM_HEADERS: '{"x-team":"support"}' };
  expect(read(environment).warnings).toEqual([
    "COMPANIOND_LLM_HEADERS has no effect without OPENAI_API_KEY or OPENAI_BASE_URL: it is for that provider.",
  ]);
  expect(read({ ...environment, OPENAI_API_KEY: "sk-x" }).warnings).toEqual([]);
});

describe("in an env file", () => {
  test("refuses every unknown name, by its line and without its value", () => {
    const { problems } = read({}, "PORT=1\nDATABASE_URLS=postgres://a:hunter2@b/c\n\nHSOT=::\nexport MODEL=\n");
    expect(problems).toEqual([
      `${envFilePath} line 2: DATABASE_URLS is not a setting. Did you mean DATABASE_URL?`,
      `${envFilePath} line 4: HSOT is not a setting. Did you mean HOST?`,
      `${envFilePath} line 5: MODEL is not a setting. Did you mean COMPANIOND_MODEL?`,
    ]);
  });

  test("repeats nothing that may be the end of a key", () => {
    const { problems } = read({}, 'PORT="1"\nTmV2ZXIgc2hvd24K==\n');
    expect(problems).toEqual([`${envFilePath} line 2: what is before the = is no setting.`]);
    for (const secret of ["JBSWY3DPEHPK3PXP=", 'TmV2ZXIgc2hvd24K="', "TmV2ZXI=1\nTmV2ZXI=2"]) {
      const told = read({}, secret).problems;
      expect(told).not.toBeEmpty();
      expect(told.join()).not.toContain(secret.split("=")[0] ?? "");
    }
  });

  test("says where to put what the runtime reads", () => {
    const { problems } = read({}, "NODE_EXTRA_CA_CERTS=/etc/ca.pem\nTZ=UTC\nhttps_proxy=http://proxy\nBUN_OPTIONS=x\n");
    expect(problems).toHaveLength(4);
    for (const problem of problems) expect(problem).toContain("Set it in the environment of the process: Environment=");
  });

  test("accepts the libraries' names there too", () => {
    expect(read({}, "COMPANIOND_LOG=warn\nOPENAI_PROJECT_ID=p\n")).toEqual({
      problems: [],
      warnings: [expect.stringContaining(`${envFilePath} line 2: OPENAI_PROJECT_ID has no effect`)],
    });
  });
});

describe("commands", () => {
  const dataDir = join(dir, "data");

  test.each([
    ["an unknown name", { OPENAI_API_KYE: "x" }, []],
    ["a bad value", { COMPANIOND_LOG: "loud" }, []],
    ["a malformed key", { COMPANIOND_SECRET_KEY: "short" }, []],
    ["a secret's file that is missing", { OPENAI_API_KEY_FILE: join(dir, "absent") }, []],
    ["a missing env file", {}, ["--env-file", join(dir, "absent.env")]],
  ])("refuse %s with exit code 2, and make nothing", async (_, environment, words) => {
    for (const command of [["account", "list"], ["migrate"], ["companion", "list", "--account", "a@b.example"]]) {
      const outcome = await runCommand([...command, "--data-dir", dataDir, ...words], { environment });
      expect({ ...outcome, stderr: outcome.stderr.split("\n")[0] }).toEqual({
        exitCode: 2,
        stdout: "",
        stderr: "companiond: the configuration has problems:",
      });
    }
    expect(await Bun.file(join(dataDir, "companiond.db")).exists()).toBe(false);
  });

  test("update reads what is about releases alone, and refuses what is wrong with that", () => {
    const environment = { COMPANIOND_RELEASES_URL: "https://releases.example/", COMPANIOND_TYPO: "x", PORT: "http" };
    expect(loadReleases({ environment })).toEqual({ url: "https://releases.example", key: null });
    expect(() => loadReleases({ environment: { COMPANIOND_RELEASES_KEY: "short" } })).toThrow(ConfigError);
    expect(() => loadReleases({ environment, envFilePath: join(dir, "absent.env") })).toThrow(ConfigError);
  });

  test("that need no configuration do not mind a broken one", async () => {
    const environment = { COMPANIOND_LOG: "loud", OPENAI_TYPO: "x" };
    for (const words of [["version"], ["--help"], ["serve", "--help"], ["help", "account"], ["completion", "bash"]]) {
      expect({ words, ...(await runCommand(words, { environment })) }).toMatchObject({
        words,
        exitCode: 0,
        stderr: "",
      });
    }
  });
});
