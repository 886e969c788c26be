/** Encryption with age: to a recipient here, with an identity where a backup is opened. Loaded only when asked for. */
import { AppError } from "../../domain/errors.ts";

const loadAge = () => import("age-encryption");

/** Throws `invalid_request` if there is no such recipient. */
export async function encryptWithAge(
  content: AsyncIterable<Uint8Array>,
  recipient: string,
): Promise<AsyncIterable<Uint8Array>> {
  const { Encrypter } = await loadAge();
  const encrypter = new Encrypter();
  try {
    encrypter.addRecipient(recipient);
  } catch {
    throw new AppError(
      "invalid_request",
      'COMPANIOND_BACKUP_AGE_RECIPIENT is not an age public key: copy it again, as "age-keygen -y" prints it.',
    );
  }
  return toIterable(await encrypter.encrypt(toStream(content)));
}

/** `identityText` is that of an identity file. Reading throws `invalid_request` if something was changed or cut off. */
export async function decryptWithAge(
  content: AsyncIterable<Uint8Array>,
  identityText: string,
): Promise<AsyncIterable<Uint8Array>> {
  const { Decrypter } = await loadAge();
  const decrypter = new Decrypter();
  for (const [index, line] of readIdentities(identityText).entries()) {
    try {
      decrypter.addIdentity(line);
    } catch {
      throw new AppError("invalid_request", `The ${index + 1}. key of the identity file is not one of age's.`);
    }
  }
  let plain: ReadableStream<Uint8Array>;
  try {
    plain = await decrypter.decrypt(toStream(content));
  } catch (error) {
    const isOther = error instanceof Error && /no identity matched/.test(error.message);
    throw new AppError(
      "invalid_request",
      isOther
        ? "It was encrypted to another recipient: none of the keys in the identity file opens it."
        : "It is not encrypted as age does it, or its beginning was changed.",
    );
  }
  return sayWhy(toIterable(plain));
}

async function* sayWhy(plain: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* plain;
  } catch {
    throw new AppError("invalid_request", "It cannot be decrypted to its end: it was changed or cut off.");
  }
}

/** The keys of an identity file, which may have comments. Throws `invalid_request`; never quotes a line. */
function readIdentities(text: string): string[] {
  const refuse = (sentence: string) => new AppError("invalid_request", sentence);
  if (/^(age-encryption\.org\/|-----BEGIN AGE ENCRYPTED FILE-----)/.test(text)) {
    throw refuse("The identity file has a passphrase. Decrypt it first: age -d -o identity.txt FILE.");
  }
  if (/^(-----BEGIN .*PRIVATE KEY-----|ssh-)/m.test(text)) {
    throw refuse("SSH keys are not supported: name a file that age-keygen wrote.");
  }
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.some((line) => line.startsWith("AGE-PLUGIN-"))) {
    throw refuse("Identities of age's plugins are not supported: decrypt the backup with age itself.");
  }
  if (lines.length === 0 || !lines.every((line) => /^AGE-SECRET-KEY-(PQ-)?1/.test(line))) {
    throw refuse("The identity file must hold lines that begin with AGE-SECRET-KEY-1, as age-keygen writes it.");
  }
  return lines;
}

function toStream(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const source = content[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await source.return?.();
    },
  });
}

/** A loop that ends early cancels the stream. */
async function* toIterable(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
