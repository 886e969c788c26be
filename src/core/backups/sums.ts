/** Checksums of what passes by, and the file that holds one beside a backup, as sha256sum writes and checks it. */

export interface Sums {
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
}

export interface SummedContent {
  content: AsyncIterable<Uint8Array>;
  /** Of what has passed until now; call it once. */
  read(): Sums;
}

export function sumBytes(source: AsyncIterable<Uint8Array>): SummedContent {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  async function* pass() {
    for await (const piece of source) {
      hasher.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  return { content: pass(), read: () => ({ bytes, sha256: hasher.digest("hex") }) };
}

export function writeSums(name: string, { sha256 }: Sums): string {
  return `${sha256}  ${name}\n`;
}

/** Null if the text holds no checksum of that name. */
export function findSha256(text: string, name: string): string | null {
  for (const line of text.split("\n")) {
    const [, sha256 = "", named = ""] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line.trim()) ?? [];
    if (named === name) return sha256;
  }
  return null;
}
