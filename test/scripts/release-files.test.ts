/** What the release build writes beside executables: the manual page, the image's context, descriptions and keys. */
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildTime } from "../../scripts/build-stamp.ts";
import { makeCommandTexts } from "../../scripts/release/command-texts.ts";
import { renderDockerfile, writeImageContext } from "../../scripts/release/image-context.ts";
import { describeRelease, readBaseUrl, readSigningKey } from "../../scripts/release/signing.ts";
import { makeCommands } from "../../src/cli/commands.ts";
import { settings } from "../../src/config/settings.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const builtAt = new Date("2026-11-22T12:00:00Z");

test("the manual page has every command, option and setting, and no mistake that mandoc finds", async () => {
  using dir = temporaryDirectory();
  const { manPage } = await makeCommandTexts("1.2.3", builtAt, { hasReleases: true });
  writeFileSync(dir.file("companiond.1"), manPage);
  const lint = Bun.spawnSync(["/usr/bin/mandoc", "-T", "lint", "-W", "warning", dir.file("companiond.1")]);
  expect({ exitCode: lint.exitCode, output: lint.stdout.toString() }).toEqual({ exitCode: 0, output: "" });
  const shown = Bun.spawnSync(["/usr/bin/mandoc", "-T", "ascii", "-O", "width=500", dir.file("companiond.1")]);
  const page = shown.stdout.toString().replaceAll(/.[\b]/g, "");
  const loaded = await Promise.all(
    makeCommands({ hasReleases: true })
      .filter((one) => !one.isHidden)
      .map((one) => one.load()),
  );
  for (const { name, actions } of loaded) {
    for (const action of actions) {
      expect(page).toMatch(new RegExp(`^ +${[name, action.name].join(" ").trim()}(?: |$)`, "m"));
      for (const option of Object.keys(action.options ?? {})) expect(page).toContain(`--${option}`);
    }
  }
  for (const { variable, isSecret } of Object.values(settings) as { variable: string; isSecret?: true }[]) {
    expect(page).toMatch(new RegExp(`^ +${isSecret ? `${variable}, ${variable}_FILE` : variable}`, "m"));
  }
  expect(page).not.toContain("read-document");
  const withoutKey = await makeCommandTexts("1.2.3", builtAt, { hasReleases: false });
  expect(JSON.stringify(withoutKey.completions)).not.toContain("update");
  expect(page).toContain("November 22, 2026");
});

test("the image is the one that is built from source, with executables that are there already", () => {
  const dockerfile = renderDockerfile();
  const source = readFileSync(join(import.meta.dir, "../../deploy/Dockerfile"), "utf8");
  const instructions = (text: string) => text.split("\n").filter((line) => /^[A-Z]+ /.test(line));
  const last = instructions(source.slice(source.lastIndexOf("\nFROM ")));
  const own = instructions(dockerfile);
  expect(own.filter((line) => last.includes(line))).toEqual(last.filter((line) => !/^(?:COPY|RUN) /.test(line)));
  expect(own.filter((line) => !last.includes(line))).toEqual([
    "ARG TARGETARCH",
    "COPY --chmod=755 companiond-linux-$TARGETARCH /usr/local/bin/companiond",
    "COPY --chown=65532:65532 --chmod=700 data /data",
  ]);
  // The volume must come after what is copied into it, and the user after what only root may do.
  expect(own.findIndex((line) => line.startsWith("VOLUME"))).toBeGreaterThan(
    own.findLastIndex((line) => /^COPY/.test(line)),
  );
  expect(own).toContain("USER 65532:65532");
});

test("the context has what the image copies, the same bytes every time", () => {
  using dir = temporaryDirectory();
  const executables = new Map([
    ["amd64", Buffer.from("one")],
    ["arm64", Buffer.from("other")],
  ] as const);
  const context = writeImageContext(executables, builtAt, 1);
  expect(Buffer.from(writeImageContext(executables, builtAt, 1)).equals(context)).toBe(true);
  writeFileSync(dir.file("context.tar.gz"), context);
  const listed = Bun.spawnSync(["tar", "-tvzf", dir.file("context.tar.gz")], { env: { TZ: "UTC", LC_ALL: "C" } });
  const rows = listed.stdout.toString().trim().split("\n");
  expect(rows.map((row) => row.replaceAll(/\s+/g, " "))).toEqual([
    `-rw-r--r-- root/root ${Buffer.byteLength(renderDockerfile())} 2026-11-22 12:00 Dockerfile`,
    "-rwxr-xr-x root/root 3 2026-11-22 12:00 companiond-linux-amd64",
    "-rwxr-xr-x root/root 5 2026-11-22 12:00 companiond-linux-arm64",
    "drwx------ root/root 0 2026-11-22 12:00 data/",
  ]);
});

test("addresses are relative to the description's own, unless the release knows where its files will be", () => {
  using dir = temporaryDirectory();
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(dir.file("key.pem"), privateKey.export({ format: "pem", type: "pkcs8" }));
  const key = readSigningKey(dir.file("key.pem"));
  const executables = [{ target: "linux-x64", name: "companiond-linux-x64", sha256: "ab" }];
  const urlAt = (base: string | null) =>
    JSON.parse(describeRelease("1.0.0", executables, key, base)).targets["linux-x64"].url;
  expect(urlAt(null)).toBe("companiond-linux-x64");
  expect(urlAt(readBaseUrl("base-url", "https://example.com/1.0.0"))).toBe(
    "https://example.com/1.0.0/companiond-linux-x64",
  );
});

test.each([
  "http://example.com",
  "releases",
  "https://a:b@example.com/",
  "https://example.com/?x",
  "https://e.com/'$(x)",
])("%s is no place for releases", (text) => {
  expect(() => readBaseUrl("base-url", text)).toThrow("--base-url must be");
});

test("a key that is missing, or of another kind, is refused by name", () => {
  using dir = temporaryDirectory();
  expect(() => readSigningKey(dir.file("none.pem"))).toThrow("none.pem has no private key in PEM");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(dir.file("ec.pem"), privateKey.export({ format: "pem", type: "pkcs8" }));
  expect(() => readSigningKey(dir.file("ec.pem"))).toThrow("ec.pem has no Ed25519 key, but ec.");
});

test("a build's time is that of its source, so that the same commit makes the same bytes", () => {
  expect(buildTime({ SOURCE_DATE_EPOCH: "1790000000" }).toISOString()).toBe("2026-09-21T14:13:20.000Z");
  expect(() => buildTime({ SOURCE_DATE_EPOCH: "yesterday" })).toThrow("SOURCE_DATE_EPOCH must be whole seconds");
});
