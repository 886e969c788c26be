/** Encryption of secrets at rest. */
import { expect, test } from "bun:test";
import { createSealing, makeSealingKey, readSealingKey } from "../../src/lib/sealing.ts";

async function newSealing() {
  const key = readSealingKey(makeSealingKey());
  if (key === null) throw new Error("a key that cannot be read");
  return createSealing(key);
}

test("opens what it has sealed, and reveals nothing of it", async () => {
  const sealing = await newSealing();
  const sealed = await sealing.seal("totp:ada", "a secret ü");
  expect(sealed).toMatch(/^v1\.[\w-]+=*$/);
  expect(Buffer.from(sealed.slice(3), "base64url").toString("latin1")).not.toContain("secret");
  expect(await sealing.open("totp:ada", sealed)).toBe("a secret ü");
  expect(await sealing.seal("totp:ada", "a secret ü")).not.toBe(sealed);
});

test("opens nothing with another key, under another name, or changed", async () => {
  const sealing = await newSealing();
  const sealed = await sealing.seal("totp:ada", "a secret");
  const at = sealed.length - 6;
  const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
  await expect((await newSealing()).open("totp:ada", sealed)).rejects.toThrow();
  for (const [name, text] of [
    ["totp:eve", sealed],
    ["totp:ada", changed],
    ["totp:ada", sealed.slice(0, 20)],
    ["totp:ada", sealed.slice(3)],
    ["totp:ada", ""],
  ] as const) {
    await expect(sealing.open(name, text)).rejects.toThrow();
  }
});

// Existing databases depend on this layout: a different one could not open NIST's case 16.
test("is AES-256-GCM with the name as additional data, its nonce in front", async () => {
  const key = Uint8Array.fromHex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
  const { createCipheriv } = process.getBuiltinModule("node:crypto");
  const nonce = Buffer.from("cafebabefacedbaddecaf888", "hex");
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from("name"));
  const sealed = Buffer.concat([nonce, cipher.update("words", "utf8"), cipher.final(), cipher.getAuthTag()]);
  const sealing = await createSealing(key);
  expect(await sealing.open("name", `v1.${sealed.toString("base64url")}`)).toBe("words");
});

test.each(["", "c2VjcmV0", "A".repeat(42), "A".repeat(44), `${"A".repeat(43)}==`, "-".repeat(43)])(
  "%p is no key",
  (text) => {
    expect(readSealingKey(text)).toBeNull();
  },
);
