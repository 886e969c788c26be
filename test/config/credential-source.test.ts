/** What messages call a file that systemd handed over as a credential. */
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { ConfigError, loadConfig } from "../../src/config/config.ts";
import { nameForOperator } from "../../src/config/text-file.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

const unit = "/run/credentials/companiond.service";

test("it is the file of that name in the folder of the unit that we ship, where there is one", () => {
  writeFileSync(directory.file("openai-api-key"), "");
  const name = (path: string) => nameForOperator(path, directory.path);
  expect(name(`${unit}/openai-api-key`)).toBe(directory.file("openai-api-key"));
  expect(name("/run/user/1000/credentials/chat.service/openai-api-key")).toBe(directory.file("openai-api-key"));
  expect(name(`${unit}/other`)).toBe(`${unit}/other (systemd's copy of what LoadCredential=other: names in the unit)`);
  for (const path of ["/run/secrets/openai-api-key", "openai-api-key", `${unit}/a/b`]) expect(name(path)).toBe(path);
});

test("a credential that is not there leads to the unit", () => {
  const read = () =>
    loadConfig({ environment: { OPENAI_API_KEY_FILE: `${unit}/no-key` }, envFilePath: `${unit}/no.env` });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(
    `--env-file: there is no such file: ${unit}/no.env (systemd's copy of what LoadCredential=no.env: names in the unit)\n` +
      `OPENAI_API_KEY_FILE: there is no such file: ${unit}/no-key (systemd's copy of what LoadCredential=no-key: names in the unit)`,
  );
});
