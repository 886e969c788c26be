/** `companiond apply` and `companiond export`, on a data directory and over HTTP. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type CliOptions, runCommand } from "../support/cli.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const email = "ada@shop.example";
let server: TestServer;
let local: TemporaryDirectory;
let files: TemporaryDirectory;
let options: CliOptions;
/** Each of the two targets, as options. */
let targets: Record<string, string[]>;

beforeAll(async () => {
  server = await startTestServer();
  [local, files] = [temporaryDirectory(), temporaryDirectory()];
  options = { environment: { COMPANIOND_DATA_DIR: local.path } };
  await runCommand(["account", "create", "--email", email], options);
  const { key } = await server.createKey(await server.createAccount({ email }));
  await Bun.write(files.file("key"), `${key}\n`);
  targets = {
    "the data directory": ["--account", email],
    "a server": ["--url", server.url, "--api-key-file", files.file("key")],
  };
});
afterAll(async () => {
  await server.close();
  for (const one of [local, files]) one[Symbol.dispose]();
});

const run = (name: string, words: readonly string[], more: CliOptions = {}) => {
  return runCommand([...words, ...(targets[name] ?? [])], { ...options, ...more });
};

const prompt = `${Array.from({ length: 8 }, (_, at) => `- Rule ${at}`).join("\n")}\n`;

async function writeSet(folder: string): Promise<void> {
  await Bun.write(
    `${folder}/support.yaml`,
    "slug: support\nname: Ada\nsystem_prompt_file: support.md\ntools:\n  - name: find_order\n    url: https://shop.example/orders\n" +
      "sources:\n  - slug: returns\n    text_file: returns.md\n  - slug: manual\n    title: Manual\n    file: manual.md\n",
  );
  await Bun.write(`${folder}/support.md`, prompt);
  await Bun.write(`${folder}/returns.md`, "You may return it within 30 days.");
  await Bun.write(`${folder}/manual.md`, "# Manual\n\nThe XK-4711 has a bell.");
  await Bun.write(`${folder}/sales.json`, JSON.stringify([{ slug: "sales", name: "Grace" }]));
}

test.each(["the data directory", "a server"])(
  "applies a folder to %s, shows what changes, and exports it again",
  async (name) => {
    using set = temporaryDirectory();
    await writeSet(set.file("set"));
    const apply = ["apply", "-f", set.file("set")];
    const dry = await run(name, [...apply, "--dry-run"]);
    expect(dry).toMatchObject({ exitCode: 5, stderr: "" });
    expect(dry.stdout).toContain("create support");
    expect(dry.stdout).toEndWith("Not applied, a dry run: 2 create.\n");
    expect(await run(name, apply)).toMatchObject({ exitCode: 0, stderr: "" });
    const again = await run(name, [...apply, "--dry-run"]);
    expect(again).toEqual({ exitCode: 0, stdout: "Not applied, a dry run: 2 unchanged.\n", stderr: "" });

    await Bun.write(set.file("set/support.md"), prompt.replace("Rule 4", "Rule four"));
    const changed = await run(name, [...apply, "--note", "Four"]);
    expect(changed.stdout).toContain("      -- Rule 4\n      +- Rule four\n");
    expect(changed.stdout).toContain("@@ -2,7 +2,7 @@");
    const json = await run(name, [...apply, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      applied: true,
      plan: [{ action: "unchanged" }, { action: "unchanged" }],
    });

    const folder = set.file("out");
    const exported = await run(name, ["export", "-d", folder]);
    expect(exported).toEqual({
      exitCode: 0,
      stdout: "Exported 2 companions, 3 files written, 0 deleted.\n",
      stderr: "",
    });
    expect(readdirSync(folder).sort()).toEqual([
      ".companiond-export",
      "sales.yaml",
      "support.system_prompt.md",
      "support.yaml",
    ]);
    const text = readFileSync(`${folder}/support.yaml`, "utf8");
    expect(text).toStartWith("slug: support\nname: Ada\nsystem_prompt_file: support.system_prompt.md\ntools:\n");
    expect(text).not.toContain("30 days");
    const round = await run(name, ["apply", "-f", folder, "--dry-run"]);
    expect(round).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("2 unchanged") });

    await Bun.write(`${folder}/mine.yaml`, "slug: mine\nname: Mine\n");
    const pruned = await run(name, ["apply", "-f", set.file("set/support.yaml"), "--prune", "delete", "--yes"]);
    expect(pruned.stdout).toContain("delete sales");
    await run(name, ["export", "-d", folder]);
    expect(existsSync(`${folder}/sales.yaml`)).toBe(false);
    expect(existsSync(`${folder}/mine.yaml`)).toBe(true);
    rmSync(`${folder}/.companiond-export`);
    expect(await run(name, ["export", "-d", folder])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("not written by this command"),
    });
    await run(name, ["apply", "-f", set.file("set/sales.json"), "--prune", "delete", "--yes"]);
  },
);

test("all that is wrong is reported in one run, each once", async () => {
  using set = temporaryDirectory();
  const lines = [
    ...["slug: A b", "name: 5", "greting: Hi", "greeting:", "system_prompt: x", "system_prompt_file: none.md"],
    ...[
      "temperature: hot",
      "metadata: {a: &x 1, b: *x}",
      "starters: [1, 2]",
      "tools:",
      "  - name: x",
      "    secret: whsec_1",
    ],
    ...[
      "sources:",
      "  - slug: y",
      "  - {slug: z, text_file: none.md}",
      "  - {slug: z, url: 'https://a.example'}",
      "---",
      "slug: b",
      "slug: c",
    ],
  ];
  await Bun.write(set.file("a.yaml"), `${lines.join("\n")}\n`);
  await Bun.write(set.file("b.json"), '{"slug": "c",\n "name": "C", "model": 7}');
  const { exitCode, stderr } = await run("a server", ["apply", "-f", set.path]);
  const found = stderr.replaceAll(`${set.path}/`, "").split("\n").slice(0, -2);
  expect(exitCode).toBe(1);
  expect(found.map((line) => line.split(":").slice(0, 2).join(":"))).toEqual([
    ...[1, 2, 3, 4, 6, 7, 8, 8, 9, 9, 12, 14, 15, 16, 19].map((line) => `a.yaml:${line}`),
    ...["b.json:1", "b.json:2"],
  ]);
});

test("faults have file and line, those of the server too, and nothing is applied", async () => {
  using set = temporaryDirectory();
  await Bun.write(
    set.file("a.yaml"),
    "slug: a\nname: 7\n---\nslug: b\nname: B\ntools:\n  - name: x\n    url: https://a.example\n    headers: {a: b}\n",
  );
  await Bun.write(set.file("b.yaml"), "slug: c\ngreeting:\n");
  const { exitCode, stderr } = await run("a server", ["apply", "-f", set.path]);
  expect([exitCode, stderr.replaceAll(set.path, "")]).toEqual([
    1,
    "/a.yaml:2: name: Must be 1 to 100 characters of well-formed text without NUL, and not only white space.\n" +
      "/a.yaml:9: tools.0.headers: Secrets never stand in files: they stay what they are on the server, and a new tool's comes by rotate-secret.\n" +
      "/b.yaml:2: Has no value: write null, or leave the field out.\n" +
      "companiond: the files have 3 faults; nothing was applied.\n",
  ]);
  await Bun.write(set.file("b.yaml"), "slug: c\nname: C\n---\nslug: d\nname: D\nmodel: none\n");
  rmSync(set.file("a.yaml"));
  for (const name of Object.keys(targets)) {
    const refused = await run(name, ["apply", "-f", set.path]);
    expect([refused.exitCode, refused.stderr.split("\n")[0]]).toEqual([
      1,
      expect.stringContaining("b.yaml:6: model: Must be one of"),
    ]);
  }
});

test("drift ends with 1 and is shown with who made it; deleting asks", async () => {
  using set = temporaryDirectory();
  await Bun.write(set.file("a.yaml"), "slug: drifting\nname: A\ngreeting: Hi\n");
  await Bun.write(set.file("b.yaml"), "slug: going\nname: B\n");
  const words = ["apply", "-f", set.file("a.yaml"), "--set", "drift"];
  await run("a server", [...words, set.file("b.yaml")]);
  const companion = await server.services.store.companions.findBySlug((await accountId()) ?? "", "drifting");
  const own = readFileSync(files.file("key"), "utf8").trim();
  const send = (method: string, path: string, key: string, body: object) =>
    fetch(`${server.url}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const named = await send("POST", "keys", own, { name: "te\u001b[2Jst", scopes: ["companions:write"] });
  await send("PATCH", `companions/${companion?.id}`, ((await named.json()) as { key: string }).key, {
    greeting: "Hello",
  });
  const dry = await run("a server", [...words, "--dry-run"]);
  expect([dry.exitCode, dry.stdout]).toEqual([
    1,
    expect.stringMatching(/! greeting was changed by te \[2Jst at 2\S+Z since it was applied/),
  ]);
  expect(await run("a server", words)).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringMatching(/Changed elsewhere .* by te \[2Jst at .* Add --overwrite/),
  });
  const prune = [...words, "--overwrite", "--prune", "delete"];
  expect(await run("a server", prune)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes") });
  const declined = await run("a server", prune, { answer: "n" });
  expect(declined).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Delete going with their conversations?"),
  });
  expect(await run("a server", prune, { answer: "y" })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("delete going"),
  });
});

test("an export writes into its folder alone, whatever a server calls its companions", async () => {
  using folder = temporaryDirectory();
  const slugs = { listed: "../escaped", found: "../escaped" };
  using hostile = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname, searchParams } = new URL(url);
      if (pathname.endsWith("/set")) return Response.json({ set: null });
      const slug = searchParams.has("slug") ? slugs.found : slugs.listed;
      return Response.json({ data: pathname === "/api/companions" ? [{ id: "1", name: "A", slug }] : [] });
    },
  });
  const words = ["export", "-d", folder.file("set"), "--url", hostile.url.origin, "--api-key-file", files.file("key")];
  expect(await runCommand(words, options)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no slug") });
  slugs.listed = "a";
  expect(await runCommand(words, options)).toMatchObject({ exitCode: 0 });
  expect([readdirSync(folder.path), readdirSync(folder.file("set")).sort()]).toEqual([
    ["set"],
    [".companiond-export", "a.yaml"],
  ]);
});

async function accountId(): Promise<string | undefined> {
  return (await server.services.store.accounts.findByEmail(email))?.id;
}

test.each([
  [["apply", "-f", "x"], "missing --account <email>."],
  [["apply", "-f", "x", "--account", email, "--url", "https://a.example"], "give either --account or --url."],
  [["apply", "-f", "x", "--url", "https://a.example"], "--url needs --api-key-file."],
  [["apply", "--account", email], "missing --file"],
  [["apply", "-f", "x", "--account", email, "--prune", "all"], "--prune must be one of"],
  [["apply", "-f", "x", "--account", email, "--prune-max", "-1"], "--prune-max"],
  [["export", "--account", email], "missing --directory"],
])("%p is misuse", async (words, sentence) => {
  const { exitCode, stderr } = await runCommand(words, options);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});
