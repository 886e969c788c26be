/** Holds which tokens verify a visitor. Tokens are signed by jose, or by hand where it refuses to. */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { exportJWK, exportSPKI, generateKeyPair } from "jose";
import type { Store, VisitorKey } from "../../src/contracts/store/store.ts";
import { makeSecret, sealedKeyName } from "../../src/core/visitors/key-material.ts";
import { createVisitors } from "../../src/core/visitors/verifier.ts";
import type { VisitorKeyAlgorithm } from "../../src/domain/visitor.ts";
import { pickOnly } from "../../src/engines/store-shared/scripts/visitor-keys.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { createSealing } from "../../src/lib/sealing.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { signToken, type TokenOptions, type WebsiteKey } from "../support/visitor-keys.ts";

const accountId = systemIds.uuid();
const companion = { id: systemIds.uuid(), accountId, metadata: {} };
const now = 1_800_000_000;
const good = { aud: companion.id, sub: "customer-42", exp: now + 3600 };

async function openVisitors() {
  const plain = await createSealing(systemIds.bytes(32) as Uint8Array<ArrayBuffer>);
  const sealing = { ...plain, hasSealed: async () => keys.length > 0 };
  const keys: VisitorKey[] = [];
  const visitorKeys = {
    find: async (_: string, id: string) => keys.find((key) => key.id === id) ?? null,
    findOnly: async (_: string, facts: readonly string[]) => pickOnly(keys, facts),
  };
  const store = { visitorKeys } as unknown as Store;
  const visitors = createVisitors({
    store,
    sealing,
    clock: createManualClock(now * 1000 + 500),
    log: createCapturedLog(),
  });

  async function add(algorithm: VisitorKeyAlgorithm, material: string, id = systemIds.uuid()): Promise<string> {
    const sealed = await sealing.seal(sealedKeyName(accountId, id), material);
    keys.push({ id, name: "shop", algorithm, metadata: null, sealed, createdAt: 0 });
    return id;
  }

  return {
    keys,
    visitors,
    async addSecret(sameId?: string): Promise<WebsiteKey & { secret: string }> {
      const secret = makeSecret(systemIds.bytes);
      const id = await add("HS256", secret, sameId);
      return { id, algorithm: "HS256", signWith: new TextEncoder().encode(secret), secret };
    },
    async addPair(algorithm: "ES256" | "EdDSA") {
      const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
      const jwk = await exportJWK(publicKey);
      return { id: await add(algorithm, JSON.stringify(jwk)), algorithm, signWith: privateKey, publicKey, jwk };
    },
    verify: (token: string) => visitors.verify(companion, token),
    /** The claims of an accepted token; null for a refused one, which gets one answer whatever is wrong. */
    async judge(token: string) {
      try {
        return (await visitors.verify(companion, token)).claims;
      } catch (error) {
        expect(error).toMatchObject({
          code: "visitor_unverified",
          message: "The visitor token is missing or not valid: send a new one from the website in X-Visitor-Token.",
          headers: { "www-authenticate": "Bearer" },
        });
        return null;
      }
    },
  };
}

const encode = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** A token with any header and payload, also as text, signed with a secret. */
function signByHand({ id, secret }: { id: string; secret: string }, payload: unknown, header: unknown = {}): string {
  const headerPart = encode(typeof header === "string" ? header : { alg: "HS256", kid: id, ...Object(header) });
  const signed = `${headerPart}.${encode(payload)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

test("accepts a good token of each algorithm, and says who the visitor is", async () => {
  const world = await openVisitors();
  for (const key of [await world.addSecret(), await world.addPair("ES256"), await world.addPair("EdDSA")]) {
    const token = await signToken(key, companion.id, {
      ...good,
      name: "Ada",
      email: "a@x.example",
      attributes: { n: 1 },
    });
    expect(await world.judge(token)).toEqual({
      sub: "customer-42",
      name: "Ada",
      email: "a@x.example",
      attributes: { n: 1 },
    });
    expect(await world.judge(await signToken(key, companion.id, good))).toEqual({
      ...{ sub: "customer-42", name: null, email: null, attributes: {} },
    });
  }
});

test("the same visitor has one id for all tokens and companions of an account, and another one elsewhere", async () => {
  const { visitors, verify, addSecret } = await openVisitors();
  expect(await visitors.findId(accountId, "customer-42")).toBeNull();
  const key = await addSecret();
  const { id } = await verify(await signToken(key, companion.id, { ...good, name: "Ada" }));
  expect(id).toMatch(/^sub:[\w-]{43}$/);
  expect(await visitors.findId(accountId, "customer-42")).toBe(id);
  expect(await visitors.findId(accountId, "customer-43")).not.toBe(id);
  expect(await visitors.findId(systemIds.uuid(), "customer-42")).not.toBe(id);
});

test("opens what it sealed of a visitor, and nothing under another visitor's name", async () => {
  const { visitors, verify, addSecret } = await openVisitors();
  const visitor = await verify(
    await signToken(await addSecret(), companion.id, { ...good, attributes: { a: [null] } }),
  );
  const sealed = await visitors.seal(visitor);
  expect(sealed).not.toContain("customer-42");
  expect(await visitors.open(visitor.id, sealed)).toEqual(visitor.claims);
  expect(await visitors.open("sub:other", sealed)).toBeNull();
});

test("the algorithm is the key's own, whatever the token says", async () => {
  const { judge, addSecret, addPair, keys } = await openVisitors();
  const secret = await addSecret();
  expect(await judge(signByHand(secret, good, { alg: "none" }))).toBeNull();
  expect(await judge(`${encode({ alg: "none" })}.${encode(good)}.`)).toBeNull();
  expect(await judge(`${encode({ alg: "HS256" })}.${encode(good)}.`)).toBeNull();
  const wide = new TextEncoder().encode(secret.secret);
  for (const algorithm of ["HS384", "HS512"]) {
    expect(await judge(await signToken({ ...secret, signWith: wide }, companion.id, good, { algorithm }))).toBeNull();
  }
  const rsa = await generateKeyPair("RS256");
  const asRsa: WebsiteKey = { ...secret, signWith: rsa.privateKey };
  expect(await judge(await signToken(asRsa, companion.id, good, { algorithm: "RS256" }))).toBeNull();
  const curve = await generateKeyPair("ES256");
  const asCurve: WebsiteKey = { ...secret, signWith: curve.privateKey };
  expect(await judge(await signToken(asCurve, companion.id, good, { algorithm: "ES256" }))).toBeNull();
  // What everyone knows of a public key must not be a secret.
  keys.length = 0;
  for (const pair of [await addPair("ES256"), await addPair("EdDSA")]) {
    const spki = await exportSPKI(pair.publicKey);
    for (const known of [spki, spki.trim(), JSON.stringify(pair.jwk), String(pair.jwk.x)]) {
      expect(await judge(signByHand({ id: pair.id, secret: known }, good))).toBeNull();
      expect(await judge(signByHand({ id: pair.id, secret: known }, good, { alg: pair.algorithm }))).toBeNull();
    }
  }
});

test("only the signature of its own key counts, in its one spelling", async () => {
  const { judge, addSecret, addPair } = await openVisitors();
  const secret = await addSecret();
  const token = signByHand(secret, good);
  expect(await judge(token)).not.toBeNull();
  const [header = "", payload = "", signature = ""] = token.split(".");
  const last = signature.at(-1) ?? "";
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const sameBits = alphabet[alphabet.indexOf(last) + 1] ?? "";
  for (const forged of [
    `${header}.${encode({ ...good, sub: "another" })}.${signature}`,
    `${header}.${payload}.${signature.slice(0, -1)}${sameBits}`,
    `${header}.${payload}.${signature}=`,
    `${header}.${payload}.${signature} `,
    ` ${token}`,
    `${token}.`,
    `${token}.${signature}`,
    `${header}.${payload}`,
    `${header}..${signature}`,
    "..",
    "",
    "x",
    signByHand({ id: secret.id, secret: secret.secret.slice("vsk_".length) }, good),
    signByHand({ id: secret.id, secret: `${secret.secret} ` }, good),
  ]) {
    expect(await judge(forged)).toBeNull();
  }
  const pair = await addPair("ES256");
  const parts = (await signToken(pair, companion.id, good)).split(".");
  for (const bytes of [63, 65, 72]) {
    const padded = Buffer.concat([Buffer.from(parts[2] ?? "", "base64url"), Buffer.alloc(8)]).subarray(0, bytes);
    expect(await judge(`${parts[0]}.${parts[1]}.${padded.toString("base64url")}`)).toBeNull();
  }
});

test("finds the key by its id, which may be left out while there is one", async () => {
  const { judge, addSecret, keys } = await openVisitors();
  expect(await judge(signByHand({ id: systemIds.uuid(), secret: "vsk_none" }, good))).toBeNull();
  const one = await addSecret();
  const sign = (key: WebsiteKey, options: TokenOptions) => signToken(key, companion.id, good, options);
  expect(await judge(await sign(one, { keyId: null }))).not.toBeNull();
  expect(await judge(await sign(one, { keyId: systemIds.uuid() }))).toBeNull();
  expect(await judge(signByHand(one, good, { kid: 7 }))).toBeNull();
  const other = await addSecret();
  expect(await judge(await sign(one, { keyId: null }))).toBeNull();
  expect(await judge(await sign(one, { keyId: other.id }))).toBeNull();
  expect(await judge(await sign(one, {}))).not.toBeNull();
  expect(await judge(await sign(other, {}))).not.toBeNull();
  // Revoked: refused at once, and the one that is left needs no name.
  keys.shift();
  expect(await judge(await sign(one, {}))).toBeNull();
  expect(await judge(await sign(one, { keyId: null }))).toBeNull();
  expect(await judge(await sign(other, { keyId: null }))).not.toBeNull();
});

test("a key whose row holds another secret is another key", async () => {
  const { judge, addSecret, keys } = await openVisitors();
  const before = await addSecret();
  expect(await judge(signByHand(before, good))).not.toBeNull();
  keys.length = 0;
  const after = await addSecret(before.id);
  expect(await judge(signByHand(before, good))).toBeNull();
  expect(await judge(signByHand(after, good))).not.toBeNull();
});

test("a key that cannot be opened is our failure, not the visitor's", async () => {
  const { verify, addSecret, keys } = await openVisitors();
  const key = await addSecret();
  const moved = keys.map((row) => ({ ...row, id: systemIds.uuid() }));
  keys.splice(0, 1, ...moved);
  const token = signByHand({ ...key, id: moved[0]?.id ?? "" }, good);
  await expect(verify(token)).rejects.toMatchObject({ code: "unavailable" });
});

test("holds for its time, with a minute for clocks that differ", async () => {
  const { judge, addSecret } = await openVisitors();
  const key = await addSecret();
  const cases: [object, boolean][] = [
    [{ exp: now - 59 }, true],
    [{ exp: now - 60 }, false],
    [{ exp: now - 61 }, false],
    [{ exp: now + 86_400 + 59 }, true],
    [{ exp: now + 86_400 + 61 }, false],
    [{ exp: now + 25 * 3600 }, false],
    [{ exp: undefined }, false],
    [{ exp: null }, false],
    [{ exp: String(now + 60) }, false],
    [{ exp: now + 0.5 }, true],
    [{ nbf: now + 59 }, true],
    [{ nbf: now + 60.1 }, false],
    [{ nbf: now + 61 }, false],
    [{ nbf: "now" }, false],
    [{ iat: now + 59 }, true],
    [{ iat: now + 61 }, false],
    [{ iat: null }, false],
    [{ iat: now - 1e9, nbf: now - 1e9 }, true],
  ];
  for (const [claims, isGood] of cases) {
    const judged = await judge(signByHand(key, { ...good, ...claims }));
    expect({ claims, isGood: judged !== null }).toEqual({ claims, isGood });
  }
  for (const number of ["1e999", "-1e999", "NaN", "Infinity"]) {
    expect(await judge(signByHand(key, JSON.stringify(good).replace(/"exp":\d+/, `"exp":${number}`)))).toBeNull();
  }
});

test("is for this companion alone, or for a list that names it", async () => {
  const { judge, addSecret } = await openVisitors();
  const key = await addSecret();
  const other = systemIds.uuid();
  const cases: [unknown, boolean][] = [
    [companion.id, true],
    [[companion.id], true],
    [[other, companion.id], true],
    [other, false],
    [[other], false],
    [[], false],
    [[[companion.id]], false],
    [{ [companion.id]: true }, false],
    [null, false],
    [undefined, false],
    ["", false],
    [`${companion.id} `, false],
  ];
  for (const [aud, isGood] of cases) {
    const judged = await judge(signByHand(key, { ...good, aud }));
    expect({ aud, isGood: judged !== null }).toEqual({ aud, isGood });
  }
});

test("claims keep their bounds, counted in characters and bytes", async () => {
  const { judge, addSecret } = await openVisitors();
  const key = await addSecret();
  const filled = (bytes: number) => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
  const cases: [object, boolean][] = [
    [{ sub: "😀".repeat(255) }, true],
    [{ sub: "x".repeat(256) }, false],
    [{ sub: "" }, false],
    [{ sub: 42 }, false],
    [{ sub: null }, false],
    [{ sub: undefined }, false],
    [{ sub: "a\0b" }, false],
    [{ sub: " / ü 漢" }, true],
    [{ name: "n".repeat(1500), email: "e".repeat(500) }, true],
    [{ name: 7 }, false],
    [{ name: "N\0" }, false],
    [{ name: null, email: null, attributes: null }, true],
    [{ email: ["a@x.example"] }, false],
    [{ attributes: filled(2048) }, true],
    [{ attributes: filled(2049) }, false],
    [{ attributes: { a: "ü".repeat(1100) } }, false],
    [{ attributes: [] }, false],
    [{ attributes: "plan" }, false],
    [{ attributes: { "a\0": 1 } }, false],
    [{ attributes: { a: [{ b: "\0" }] } }, false],
    [{ anything: { else: ["is", "ignored"] } }, true],
    [{ anything: "\0" }, false],
  ];
  for (const [claims, isGood] of cases) {
    const judged = await judge(signByHand(key, { ...good, ...claims }));
    expect({ claims, isGood: judged !== null }).toEqual({ claims, isGood });
  }
});

test("JSON that two readers could understand differently is no token", async () => {
  const { judge, addSecret } = await openVisitors();
  const key = await addSecret();
  const json = JSON.stringify(good).slice(0, -1);
  const header = `{"alg":"HS256","kid":"${key.id}"`;
  expect(await judge(signByHand(key, `${json}}`, `${header}}`))).not.toBeNull();
  const payloads = [
    `${json},"sub":"admin"}`,
    `${json},"\\u0073ub":"admin"}`,
    `${json},"attributes":{"a":1,"a":2}}`,
    `${json},"attributes":{"a":[{"b":1},{"c":{"d":1,"e":{},"d":2}}]}}`,
    `${json},"name":"\\ud800"}`,
    `${json},"attributes":${"[".repeat(40)}${"]".repeat(40)}}`,
    `${json},"x":${"[".repeat(40)}${"]".repeat(40)}}`,
    `${json},}`,
    `\uFEFF${json}}`,
    `[${json}}]`,
    "null",
    '"text"',
    "7",
    "",
  ];
  for (const payload of payloads) {
    expect({ payload, judged: await judge(signByHand(key, payload)) }).toEqual({ payload, judged: null });
  }
  // Each object has names of its own, and texts may hold what looks like one.
  for (const payload of [
    `${json},"attributes":{"sub":1,"b":{"sub":2},"c":[{"sub":3},{"sub":4}]}}`,
    `${json},"attributes":{"a":"\\"sub\\":1,{[","b" : "\\\\"}}`,
  ]) {
    expect({ payload, isGood: (await judge(signByHand(key, payload))) !== null }).toEqual({ payload, isGood: true });
  }
  for (const wrong of [`${header},"alg":"HS256"}`, `${header},"crit":[]}`, `${header},"crit":null}`, "[]", "{}"]) {
    expect(await judge(signByHand(key, good, wrong))).toBeNull();
  }
  expect(await judge(await signToken(key, companion.id, good, { header: { crit: ["b64"], b64: true } }))).toBeNull();
});

test("a token has at most 4 KiB", async () => {
  const { judge, addSecret } = await openVisitors();
  const key = await addSecret();
  const sign = (length: number) => signByHand(key, { ...good, anything: "x".repeat(length) });
  const spare = Math.floor(((4096 - sign(0).length) * 3) / 4);
  const longest = [0, 1, 2, 3].map((more) => sign(spare - more)).find(({ length }) => length <= 4096) ?? "";
  expect(longest.length).toBeGreaterThan(4092);
  expect(await judge(longest)).not.toBeNull();
  expect(await judge(sign(spare + 3))).toBeNull();
  expect(await judge(sign(5 * 1024))).toBeNull();
});
