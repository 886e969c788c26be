/** Opening what comes from the storage: encrypted, damaged, made by others, or made to do harm. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { fetchBackup } from "../../src/core/backups/fetching.ts";
import {
  type BackupsWorld,
  countAccounts,
  enlarge,
  findLeftovers,
  startBackupsWorld,
} from "../support/stored-backups.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Debian's, for a second opinion. */
const age = "/usr/bin/age";
const zstd = "/usr/bin/zstd";

async function makeIdentity() {
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

async function pipe(command: string[], input: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const child = Bun.spawn(command, { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" });
  const [output, problem] = await Promise.all([child.stdout.bytes(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) throw new Error(problem);
  return output;
}

test("encrypts to a recipient, and opens that with its identity alone", async () => {
  await using world = await startBackupsWorld();
  using keys = temporaryDirectory();
  enlarge(world.data.path, 200_000);
  const [ours, others] = [await makeIdentity(), await makeIdentity()];
  writeFileSync(keys.file("ours"), `# created: today\n# public key: ${ours.recipient}\n\n${ours.identity}\n`);
  const name = await world.upload({ COMPANIOND_BACKUP_AGE_RECIPIENT: ours.recipient });
  expect(name).toEndWith(".db.zst.age");
  expect((await world.read(name)).toString("latin1", 0, 22)).toBe("age-encryption.org/v1\n");

  const verify = (...option: string[]) => world.run(["backups", "verify", ...option]);
  const opened = await verify("--age-identity", keys.file("ours"));
  expect(opened).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("It holds 1 account") });
  const closed = await verify();
  expect(closed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Add --age-identity <file>") });
  const missing = await verify("--age-identity", keys.file("none"));
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("file not found") });
  expect(findLeftovers(world.data.path)).toEqual([]);

  const fetch = async (identityText: string) => {
    using dir = temporaryDirectory();
    return await fetchBackup(world.storage, { name, dir: dir.path, identityText });
  };
  expect(await fetch(`${others.identity}\n${ours.identity}\n`)).toMatchObject({ name });
  for (const [identityText, sentence] of [
    [others.identity, "none of the keys in the identity file opens it"],
    ["-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", "SSH keys are not supported"],
    ["age-encryption.org/v1\n-> scrypt", "The identity file has a passphrase."],
    [ours.recipient, "must hold lines that begin with AGE-SECRET-KEY-1"],
    [`${ours.identity.slice(0, -3)}QQQ`, "The 1. key of the identity file is not one of age's."],
  ] as const) {
    const failure = String(await fetch(identityText).catch((error: unknown) => error));
    expect(failure).toContain(sentence);
    expect(failure).not.toContain(ours.identity.slice(0, 40));
  }
});

test("age and zstd open what we wrote, and we open what they wrote", async () => {
  await using world = await startBackupsWorld();
  using dir = temporaryDirectory();
  enlarge(world.data.path, 300_000);
  await world.run(["backup", dir.file("plain.db")]);
  const plain = await Bun.file(dir.file("plain.db")).bytes();
  const { identity, recipient } = await makeIdentity();
  writeFileSync(dir.file("identity"), `${identity}\n`);

  const name = await world.upload({ COMPANIOND_BACKUP_AGE_RECIPIENT: recipient });
  const packed = await pipe([age, "-d", "-i", dir.file("identity")], await world.read(name));
  const opened = await pipe([zstd, "-d", "-c"], packed);
  expect(Buffer.compare(opened, plain)).toBe(0);
  const sums = await world.read(`${name}.sha256`);
  expect(sums.toString()).toBe(`${Bun.SHA256.hash(await world.read(name), "hex")}  ${name}\n`);

  writeFileSync(dir.file("packed"), await pipe([zstd, "-19", "-c", `--stream-size=${plain.length}`], plain));
  const theirs = await pipe([age, "-r", recipient], await Bun.file(dir.file("packed")).bytes());
  await world.put("companiond-20300101T000000Z.db.zst.age", theirs);
  const verified = await world.run(["backups", "verify", "--age-identity", dir.file("identity")]);
  expect(verified.stdout).toStartWith("companiond-20300101T000000Z.db.zst.age is good");
});

/** What is stored under the name in place of what was uploaded, and with which checksum. */
type Spoil = (world: BackupsWorld, name: string, bytes: Buffer<ArrayBuffer>) => Promise<void>;

function flip(bytes: Buffer<ArrayBuffer>, at: number): Buffer<ArrayBuffer> {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** The checksum stays, as when the storage loses bits. */
const keepsSums = async (world: BackupsWorld, name: string, bytes: Uint8Array) =>
  world.put(name, bytes, (await world.read(`${name}.sha256`)).toString());

const cases: [string, Spoil, string][] = [
  ["a changed bit", (world, name, bytes) => keepsSums(world, name, flip(bytes, 5000)), "does not match its checksum"],
  [
    "an end cut off",
    (world, name, bytes) => keepsSums(world, name, bytes.subarray(0, 5000)),
    "does not match its checksum",
  ],
  ["a checksum of something else", (world, name, bytes) => world.put(name, bytes, "0 x\n"), "It has no checksum in"],
  ["no checksum", (world, name) => world.storage.remove(`${name}.sha256`), "did not finish"],
  ["a changed bit in the frame", (world, name, bytes) => world.put(name, flip(bytes, 5000)), "changed or cut off"],
  ["half a frame", (world, name, bytes) => world.put(name, bytes.subarray(0, 5000)), "cut off"],
  ["no frame", (world, name) => world.put(name, Buffer.from("not a frame, but long enough")), "is not a backup that"],
  ["nothing", (world, name) => world.put(name, Buffer.alloc(0)), "is not a backup that"],
  [
    "a frame that unpacks to more than any disk holds",
    (world, name) => {
      const frame = Bun.zstdCompressSync(Buffer.alloc(5_000_000));
      const head = Buffer.from([...frame.subarray(0, 4), 0xe0, 0, 0, 0, 0, 0, 0, 16, 0]);
      return world.put(name, Buffer.concat([head, frame.subarray(9)]));
    },
    "Free some space",
  ],
  [
    "a second frame that the first does not speak of",
    (world, name, bytes) => world.put(name, Buffer.concat([bytes, Bun.zstdCompressSync(Buffer.alloc(50_000_000))])),
    "It unpacks to more than it declares",
  ],
];

test("refuses what was changed, cut off, or made to do harm", async () => {
  await using world = await startBackupsWorld();
  const name = await world.upload();
  const [bytes, sums] = [await world.read(name), await world.read(`${name}.sha256`)];
  for (const [what, spoil, sentence] of cases) {
    await world.put(name, bytes, sums.toString());
    await spoil(world, name, bytes);
    using dir = temporaryDirectory();
    const fetching = fetchBackup(world.storage, { name, dir: dir.path, identityText: null });
    const failure = await fetching.catch((error: Error) => error.message);
    expect({ what, failure }).toEqual({ what, failure: expect.stringContaining(sentence) });
    expect(failure).toContain(name);
    expect(failure).not.toContain(dir.path);
  }
});

test.each([
  ["a changed bit", cases[0]?.[1], "does not match its checksum"],
  [
    "what is no database",
    (world: BackupsWorld, name: string) => world.put(name, Bun.zstdCompressSync(Buffer.alloc(5000, 65))),
    "is damaged, or not a database",
  ],
])("a restore refuses %s, and leaves the database and the disk as they were", async (_, spoil, sentence) => {
  await using world = await startBackupsWorld();
  const name = await world.upload();
  await spoil?.(world, name, await world.read(name));
  const outcome = await world.run(["restore", `s3:${name}`]);
  expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
  expect(outcome.stderr).toContain(sentence);
  expect(outcome.stderr).toContain(name);
  expect(outcome.stderr).not.toContain(world.data.path);
  expect(findLeftovers(world.data.path)).toEqual([]);
  expect(await countAccounts(world.data.path)).toBe(1);
});
