/** The snippets that sign visitors' tokens: run by this machine's interpreters, verified by another library and a server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { importJWK, type JWTVerifyResult, jwtVerify } from "jose";
import {
  languages,
  pairCommand,
  pairSnippet,
  privateKeyVariable,
  secretVariable,
} from "../../src/web/dashboard/visitor-keys/snippets.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const user = { id: 42, name: "Zoë <b> & 李", email: "zoe@shop.example" };
const json = JSON.stringify(user);

let server: TestServer;
let companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
let api: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  const account = await server.createAccount();
  companion = await server.createCompanion({ visitorAuth: "required" }, account);
  api = apiClient(server.url, (await server.createKey(account)).key);
});
afterAll(() => server.close());

/** A key at the server that takes part in one test. */
async function withKey(body: object, act: (key: { id: string; secret: string }) => Promise<void>): Promise<void> {
  const { json } = await api.call("POST", "/api/visitor-keys", { name: "shop", ...body });
  await act({ id: String(json.id), secret: String(json.secret) });
  await api.call("DELETE", `/api/visitor-keys/${json.id}`);
}

async function expectAdmitted(token: string): Promise<void> {
  const path = `/api/embed/${companion.embedToken}/conversations`;
  const { status } = await apiClient(server.url, null).call("GET", path, undefined, { "x-visitor-token": token });
  expect(status).toBe(200);
}

/** What a website adds to the snippet: a call for its own user. */
const callers: Record<string, { file: string; command: string[]; add(snippet: string): string }> = {
  "Node.js": { file: "sign.mjs", command: [Bun.which("node") ?? process.execPath], add: addNodeCall },
  PHP: {
    file: "sign.php",
    command: ["php"],
    add: (snippet) => `${snippet}print(sign_visitor_token(json_decode('${json}', true)));`,
  },
  Python: {
    file: "sign.py",
    command: ["python3"],
    add: (snippet) => `${snippet}print(sign_visitor_token(json.loads('${json}')))`,
  },
  Ruby: {
    file: "sign.rb",
    command: ["ruby"],
    add: (snippet) => `${snippet}print sign_visitor_token(JSON.parse('${json}', symbolize_names: true))`,
  },
  Go: {
    file: "sign.go",
    command: ["go", "run"],
    add: (snippet) =>
      `${snippet.replace("package visitors", "package main")}
func main() {
	token, _ := SignToken("${user.id}", "${user.name}", "${user.email}")
	os.Stdout.WriteString(token)
}`,
  },
};

function addNodeCall(snippet: string): string {
  return `${snippet}process.stdout.write(signVisitorToken(${json}));`;
}

async function runHere(folder: string, command: string[], environment: Record<string, string>): Promise<string> {
  const ended = Bun.spawn(command, { cwd: folder, env: { ...process.env, ...environment }, stderr: "inherit" });
  const text = await new Response(ended.stdout).text();
  expect(await ended.exited).toBe(0);
  return text.trim();
}

function expectClaims({ payload, protectedHeader }: JWTVerifyResult, algorithm: string, keyId: string): void {
  const { sub, name, email, iat = 0, exp = 0 } = payload;
  expect({ sub, name, email }).toEqual({ sub: "42", name: user.name, email: user.email });
  expect(exp - iat).toBe(3600);
  expect(protectedHeader).toEqual({ alg: algorithm, typ: "JWT", kid: keyId });
}

for (const { name, snippet } of languages) {
  const { file, command, add } = callers[name] ?? { file: "", command: [""], add: String };
  const isHere = Bun.which(command[0] ?? "") !== null;
  test.skipIf(!isHere)(`the snippet for ${name} signs what a visitor's token needs`, async () => {
    await withKey({ algorithm: "HS256" }, async ({ id, secret }) => {
      using folder = temporaryDirectory();
      const code = snippet({ companionId: companion.id, keyId: id });
      expect(code).not.toContain(secret);
      writeFileSync(folder.file(file), add(code));
      const token = await runHere(folder.path, [...command, file], { [secretVariable]: secret });
      const options = { audience: companion.id, algorithms: ["HS256"] };
      expectClaims(await jwtVerify(token, new TextEncoder().encode(secret), options), "HS256", id);
      await expectAdmitted(token);
    });
  });
}

for (const algorithm of ["ES256", "EdDSA"] as const) {
  test(`the command makes a pair for ${algorithm}, and the snippet signs with it`, async () => {
    using folder = temporaryDirectory();
    const node = Bun.which("node") ?? process.execPath;
    const made = await runHere(folder.path, ["sh", "-c", pairCommand(algorithm).replace("node", node)], {});
    const publicJwk = JSON.parse(made);
    expect(publicJwk).not.toHaveProperty("d");
    expect(readFileSync(folder.file("visitor-key.pem"), "utf8")).toContain("PRIVATE KEY");
    await withKey({ algorithm, public_jwk: publicJwk }, async ({ id }) => {
      writeFileSync(
        folder.file("sign.mjs"),
        addNodeCall(pairSnippet(algorithm, { companionId: companion.id, keyId: id })),
      );
      const token = await runHere(folder.path, [node, "sign.mjs"], { [privateKeyVariable]: "visitor-key.pem" });
      const options = { audience: companion.id, algorithms: [algorithm] };
      expectClaims(await jwtVerify(token, await importJWK(publicJwk, algorithm), options), algorithm, id);
      await expectAdmitted(token);
    });
  });
}
