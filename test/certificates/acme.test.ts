/** Orders at a real authority (pebble), as an authority's client makes them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { type Authority, AuthorityFailure, type CertificateOrder } from "../../src/contracts/certificates/authority.ts";
import { createAcmeAuthority, nameCertificate } from "../../src/engines/acme/acme-authority.ts";
import { readCertificateExpiry } from "../../src/lib/certificate.ts";
import { inTime } from "../support/eventually.ts";
import { type Pebble, startPebble } from "../support/pebble.ts";

let pebble: Pebble;
let authority: Authority;
let accountKey: string;
const tokens = new Map<string, string>();

beforeAll(async () => {
  pebble = await startPebble();
  pebble.answer(async (token) => tokens.get(token) ?? null);
  authority = createAcmeAuthority(pebble.directory, pebble.fetch);
  accountKey = await authority.makeAccountKey();
});
afterAll(() => pebble[Symbol.asyncDispose]());

function order(names: readonly string[], changes: Partial<CertificateOrder> = {}, asked = authority) {
  const given = { names, accountKey, email: null, putChallenge, ...changes };
  return asked.order(given, new AbortController().signal);
}

async function putChallenge(token: string, answer: string): Promise<void> {
  tokens.set(token, answer);
}

async function failureOf(work: Promise<unknown>): Promise<Partial<AuthorityFailure>> {
  const error = await work.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof AuthorityFailure)) throw error;
  const { kind, domain, detail, retryAfterMs } = error;
  return { kind, domain, detail, retryAfterMs };
}

test("one name becomes a chain with a key of its own on P-256", async () => {
  const certificate = await order(["chat.example.com"], { email: "ops@example.com" });
  expect(readCertificateExpiry(certificate)).toBeGreaterThan(0);
  const { subjectAltName, publicKey } = new X509Certificate(certificate.cert);
  expect(subjectAltName).toBe("DNS:chat.example.com");
  expect(publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  expect(certificate.cert.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
});

test("several names are in one certificate, and the account is used again", async () => {
  const names = ["a.example.com", "b.example.com", "c.example.org"];
  const { cert } = await order(names);
  expect(new X509Certificate(cert).subjectAltName).toBe(names.map((name) => `DNS:${name}`).join(", "));
  expect((await order(names)).cert).not.toBe(cert);
});

test("a name that answers as something else is named", async () => {
  const failure = await failureOf(order(["good.example.com", "bad.example.com"], { putChallenge: async () => {} }));
  expect(failure).toMatchObject({ kind: "unauthorized", domain: expect.stringMatching(/(good|bad)\.example\.com/) });
});

test("a name that the authority does not issue for is told apart", async () => {
  expect(await failureOf(order(["not_a_name"]))).toMatchObject({ kind: expect.stringMatching(/name|refused/) });
});

test("a limit is obeyed as the authority words it", async () => {
  const problem = { type: "urn:ietf:params:acme:error:rateLimited", detail: "too many certificates already issued" };
  pebble.intercept(({ url }) =>
    url.endsWith("/order-plz")
      ? Response.json(problem, {
          status: 429,
          headers: { "content-type": "application/problem+json", "retry-after": "7200" },
        })
      : null,
  );
  const failure = await failureOf(order(["chat.example.com"]));
  pebble.intercept(null);
  const detail = "too many certificates already issued";
  expect(failure).toEqual({ kind: "limited", domain: null, detail, retryAfterMs: 7_200_000 });
});

test.each([
  ["rateLimited", 429, "limited"],
  ["invalidContact", 400, "email"],
  ["userActionRequired", 403, "terms"],
  ["unauthorized", 403, "account"],
  ["externalAccountRequired", 403, "account"],
  ["serverInternal", 500, "away"],
  ["malformed", 400, "refused"],
])("the account's refusal %s is %i and means: %s", async (type, status, kind) => {
  const body = { type: `urn:ietf:params:acme:error:${type}`, detail: "no" };
  pebble.intercept(({ url }) => (url.endsWith("/sign-me-up") ? Response.json(body, { status }) : null));
  expect(await failureOf(order(["chat.example.com"]))).toMatchObject({ kind, detail: "no" });
  pebble.intercept(null);
});

const page = () => new Response("<html>", { headers: { "content-type": "text/html" } });
const clear = "http://127.0.0.1:1/";
const inTheClear = () => Response.json({ newNonce: clear, newAccount: clear, newOrder: clear });
const badNonce = { type: "urn:ietf:params:acme:error:badNonce", detail: "no" };

test.each([
  ["names addresses without HTTPS", "/dir", inTheClear, "without HTTPS"],
  ["takes no nonce", "/sign-me-up", () => Response.json(badNonce, { status: 400 }), "no"],
])("what %s is no authority, and is not asked for long", async (_, path, answer, detail) => {
  pebble.requests.length = 0;
  pebble.intercept(({ url }) => (url.endsWith(path) ? answer() : null));
  const failure = await failureOf(order(["chat.example.com"]));
  expect(failure).toMatchObject({ kind: "unusable", detail: expect.stringContaining(detail) });
  expect(pebble.requests.length).toBeLessThan(20);
  pebble.intercept(null);
});

const moved = () => new Response(null, { status: 301, headers: { location: "https://elsewhere.example/dir" } });
const malformed = { type: "urn:ietf:params:acme:error:malformed", detail: "Method not allowed" };

test.each([
  ["nothing", () => new Response("not found", { status: 404 }), "status 404"],
  ["another address of the authority", () => Response.json(malformed, { status: 405 }), "status 405"],
  ["a redirect", moved, "status 301, and points to https://elsewhere.example/dir"],
  ["a web page", page, "no addresses of ACME in it"],
  ["half a directory", () => Response.json({ newNonce: clear, newAccount: clear }), "no newOrder in it"],
])("where %s is in place of the directory, its address is wrong, and asked for once", async (_, answer, detail) => {
  pebble.requests.length = 0;
  pebble.intercept(({ url }) => (url.endsWith("/dir") ? answer() : null));
  expect(await failureOf(order(["chat.example.com"]))).toMatchObject({ kind: "directory", detail });
  expect(pebble.requests).toEqual(["/dir"]);
  pebble.intercept(null);
});

test.each([503, 429])("a directory that answers with status %i may be there later", async (status) => {
  pebble.intercept(({ url }) => (url.endsWith("/dir") ? new Response(null, { status }) : null));
  expect(await failureOf(order(["chat.example.com"]))).toMatchObject({ kind: status === 429 ? "limited" : "away" });
  pebble.intercept(null);
});

test("an authority that does not listen is away", async () => {
  const back = pebble.leave();
  expect(await failureOf(order(["chat.example.com"]))).toMatchObject({ kind: "away", detail: "connection refused" });
  back();
  expect((await order(["chat.example.com"])).key).toContain("PRIVATE KEY");
});

test("an order ends with its signal, also while the authority is silent", async () => {
  const stop = new AbortController();
  const asked = Promise.withResolvers<void>();
  const silent = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      asked.resolve();
      return new Promise<Response>(() => {});
    },
  });
  const given = { names: ["chat.example.com"], accountKey, email: null, putChallenge };
  const ended = createAcmeAuthority(`http://127.0.0.1:${silent.port}/dir`).order(given, stop.signal);
  await asked.promise;
  stop.abort(new Error("stopped"));
  expect(ended).rejects.toThrow("stopped");
  await inTime(
    ended.catch(() => {}),
    { what: "the end of the order" },
  );
  await silent.stop(true);
});

test("a private authority is trusted by NODE_EXTRA_CA_CERTS, and by nothing else", async () => {
  const program = `
    const { createAcmeAuthority } = await import(process.env.MODULE);
    const certificate = createAcmeAuthority(process.env.DIRECTORY);
    console.log(await certificate.findRenewalWindow(process.env.CERT, new AbortController().signal).catch((e) => e.kind));`;
  const { cert } = await order(["chat.example.com"]);
  const ask = async (env: Record<string, string>) => {
    const child = Bun.spawn([process.execPath, "-e", program], {
      env: {
        MODULE: join(import.meta.dir, "../../src/engines/acme/acme-authority.ts"),
        DIRECTORY: pebble.directory,
        CERT: cert,
        ...env,
      },
      stderr: "inherit",
    });
    return (await child.stdout.text()).trim();
  };
  const trusted = { NODE_EXTRA_CA_CERTS: join(import.meta.dir, "../fixtures/tls/one.cert.pem") };
  expect(await Promise.all([ask({}), ask(trusted)])).toEqual(["untrusted", "null"]);
});

test("an authority with renewal information is asked by the certificate's name", async () => {
  const { cert } = await order(["chat.example.com"]);
  const { serialNumber } = new X509Certificate(cert);
  let asked = "";
  pebble.intercept(({ url }) => {
    const { pathname, origin } = new URL(url);
    if (pathname === "/dir") return Response.json({ renewalInfo: `${origin}/info` });
    asked = pathname;
    return Response.json({ suggestedWindow: { start: "2026-01-02T03:04:05Z", end: "2026-01-03T03:04:05Z" } });
  });
  const window = await authority.findRenewalWindow(cert, new AbortController().signal);
  pebble.intercept(null);
  const fromMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  expect(window).toEqual({ fromMs, toMs: fromMs + 86_400_000 });
  expect(asked).toBe(`/info/${nameCertificate(cert)}`);
  const [, serial = ""] = nameCertificate(cert)?.split(".") ?? [];
  expect(Buffer.from(serial, "base64url").toString("hex").replace(/^00/, "")).toBe(serialNumber.toLowerCase());
  expect(await authority.findRenewalWindow(cert, new AbortController().signal)).toBeNull();
});

test("a certificate has the name that RFC 9773 gives it in its example", () => {
  // Section 4.1 and appendix A.
  const example = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`;
  expect(nameCertificate(example)).toBe("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE");
});
