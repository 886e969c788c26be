/** What doctor says of the certificate of --domain. */
import { expect, test } from "bun:test";
import {
  examineAuthority,
  examineDomains,
  examineStoredCertificate,
  judgeCertificate,
} from "../../src/cli/doctor/certificates.ts";
import type { Config } from "../../src/config/config.ts";
import { keepCertificate } from "../support/kept-certificate.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const nowMs = Date.UTC(2026, 5, 1, 12);
const dayMs = 86_400_000;
const domains = ["chat.example.com", "help.example.com"];
const none = { domains, expiresAtMs: null, nextAttemptAtMs: null, problem: null };
const problem =
  "The authority (authority.example) is unavailable: connection refused. It is asked again automatically.";

test("one that is kept in time is fine, with its names and days", () => {
  const state = { ...none, expiresAtMs: nowMs + 40.5 * dayMs, nextAttemptAtMs: nowMs + 10 * dayMs };
  expect(judgeCertificate(state, nowMs)).toEqual({
    name: "certificate",
    status: "ok",
    detail: "The one for chat.example.com, help.example.com is valid for 40 more days, and is renewed in time.",
    advice: null,
  });
});

test.each([
  [30, "warn", "is valid for 30 more days, and cannot be renewed. "],
  [5, "fail", "is valid for 5 more days, and cannot be renewed. "],
  [-1, "fail", "has expired, and cannot be renewed. "],
])("one with %i days left that cannot be renewed: %s", (days, status, words) => {
  const state = { ...none, expiresAtMs: nowMs + days * dayMs, nextAttemptAtMs: nowMs + 3_600_000, problem };
  expect(judgeCertificate(state, nowMs)).toEqual({
    name: "certificate",
    status: status as "warn" | "fail",
    detail: `The one for chat.example.com, help.example.com ${words}${problem}`,
    advice:
      "The next attempt is at 2026-06-01 13:00 UTC. To try immediately after a change, send SIGHUP to the server " +
      "(systemctl reload companiond); a changed setting needs a restart.",
  });
});

test("none yet is a warning without a problem, and a failure with one", () => {
  expect(judgeCertificate(none, nowMs).status).toBe("warn");
  const failed = judgeCertificate({ ...none, problem }, nowMs);
  expect(failed.status).toBe("fail");
  expect(failed.detail).toBe(`There is none for chat.example.com, help.example.com yet. ${problem}`);
  expect(failed.advice).toStartWith("An attempt is under way. ");
});

test("without a server, what the last one left is told", async () => {
  using directory = temporaryDirectory();
  const acme = { domains: ["chat.example.com"], email: null, directory: "https://authority.example/dir", httpPort: 80 };
  const config = { server: { acme }, database: null, dataDir: directory.path } as unknown as Config;
  expect((await examineStoredCertificate(config, nowMs))[0]?.status).toBe("warn");
  await using kept = await keepCertificate({ path: directory.file("certificates"), startMs: nowMs });
  await kept.rest();
  const [found] = await examineStoredCertificate(config, nowMs);
  expect(found).toMatchObject({ status: "fail", detail: expect.stringContaining("no authority was chosen") });
  expect(found?.advice).toStartWith("The next attempt is at 2026-06-01 12:01 UTC.");
  const shared = { ...config, database: {} } as Config;
  expect((await examineStoredCertificate(shared, nowMs))[0]?.detail).toContain("in the database");
  expect(await examineStoredCertificate({ ...config, server: { acme: null } } as unknown as Config, nowMs)).toEqual([]);
});

test("the names are looked up", async () => {
  const server = { acme: { domains } } as unknown as Config["server"];
  const found = await examineDomains({ server }, async (asked) => {
    if (asked === "chat.example.com") return [{ address: "203.0.113.9" }, { address: "2001:db8::9" }];
    throw Object.assign(new Error("none"), { code: "ENOTFOUND" });
  });
  expect(found.map(({ status, detail }) => [status, detail])).toEqual([
    ["ok", "chat.example.com points to 203.0.113.9 and 2001:db8::9."],
    ["fail", "help.example.com does not resolve."],
  ]);
});

test("an authority that is none is found before it is needed", async () => {
  const answers: Record<string, () => Response> = {
    "/dir": () => Response.json({ newNonce: "https://a/", newAccount: "https://a/", newOrder: "https://a/" }),
    "/down": () => new Response(null, { status: 503 }),
  };
  await using other = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => answers[new URL(url).pathname]?.() ?? new Response(null, { status: 404 }),
  });
  const examine = async (path: string) => {
    const directory = `http://127.0.0.1:${other.port}${path}`;
    const [found] = await examineAuthority({ server: { acme: { directory } } } as unknown as Config, nowMs);
    return [found?.status, found?.detail.replace(String(other.port), "80")];
  };
  expect(await Promise.all(["/dir", "/down", "/"].map(examine))).toEqual([
    ["ok", "127.0.0.1:80 is one."],
    [
      "warn",
      "The authority (127.0.0.1:80) is unavailable: it answered with status 503. It is asked again automatically.",
    ],
    [
      "fail",
      "COMPANIOND_ACME_DIRECTORY is wrong: there is no ACME directory at http://127.0.0.1:80/ (status 404). Set it to " +
        "the URL of the authority's directory, then restart the server.",
    ],
  ]);
});
