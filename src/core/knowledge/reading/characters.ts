/** Bytes to characters: the mark, what the bytes themselves show, what is declared, and at last a guess. */

const sampleBytes = 64 * 1024;

/**
 * For bytes without a declared encoding: characters that its languages are full of. Chinese comes after the others,
 * since its encoding takes almost any pair of bytes.
 */
const guesses: readonly { label: string; usual: RegExp; share: number }[] = [
  { label: "shift_jis", usual: /[\u3040-\u30ff\u4e00-\u9fff\u3000-\u303f\uff01-\uff5e]/g, share: 0.9 },
  { label: "euc-jp", usual: /[\u3040-\u30ff]/g, share: 0.3 },
  { label: "euc-kr", usual: /[\uac00-\ud7a3\u3000-\u303f]/g, share: 0.95 },
  { label: "gbk", usual: /[\u4e00-\u9fff\u3000-\u303f\uff01-\uff5e]/g, share: 0.9 },
  // Texts have more small letters than capitals: the two encodings of Russian have them swapped.
  { label: "windows-1251", usual: /[\u0430-\u044f]/g, share: 0.7 },
  { label: "koi8-r", usual: /[\u0430-\u044f]/g, share: 0.7 },
];

/** `declared` are labels of encodings, the most trustworthy first; unknown ones are passed over. */
export function decodeText(bytes: Uint8Array, declared: readonly (string | null)[] = []): string {
  const wide = findMark(bytes) ?? findUnmarked(bytes);
  if (wide !== null) return decode(bytes, wide) ?? "";
  const utf8 = decode(bytes, "utf-8") ?? "";
  const foreign = countForeign(utf8);
  // Hardly any text in another encoding happens to be UTF-8, so it wins over what servers declare, often wrongly.
  if (foreign > 0 && isSound(utf8)) return utf8;
  for (const label of declared) {
    const text = label === null || /^utf-?(8|16|32)/i.test(label) ? null : decode(bytes, label);
    if (text !== null && isSound(text)) return text;
  }
  if (foreign === 0) return utf8;
  const label = guess(bytes.subarray(0, sampleBytes));
  return decode(bytes, label) ?? utf8;
}

function decode(bytes: Uint8Array, label: string): string | null {
  try {
    return new TextDecoder(label as Bun.Encoding).decode(bytes);
  } catch {
    return null;
  }
}

function findMark(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return null;
}

/** UTF-16 without a mark has its zeros on one side of the pairs. */
function findUnmarked(bytes: Uint8Array): string | null {
  const sample = bytes.subarray(0, 4096);
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (even + odd < sample.length / 4) return null;
  if (odd > even * 8) return "utf-16le";
  return even > odd * 8 ? "utf-16be" : null;
}

/** One wrong byte does not turn a whole text into another encoding's. */
function isSound(text: string): boolean {
  const wrong = text.match(/\ufffd/g)?.length ?? 0;
  return wrong === 0 || wrong * 20 <= countForeign(text);
}

function countForeign(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything beyond ASCII.
  return text.match(/[^\x00-\x7f]/g)?.length ?? 0;
}

/** Western texts are mostly ASCII letters; others are mostly not. */
function guess(sample: Uint8Array): string {
  let high = 0;
  let low = 0;
  for (const byte of sample) {
    if (byte >= 0x80) high++;
    else if (byte > 0x20) low++;
  }
  const western = "windows-1252";
  if (high * 2 < low) return western;
  for (const { label, usual, share } of guesses) {
    // The sample may end within a character.
    const text = decode(sample, label)?.replace(/\ufffd$/, "") ?? "\ufffd";
    if (!isSound(text)) continue;
    if ((text.match(usual)?.length ?? 0) >= countForeign(text) * share) return label;
  }
  return western;
}
