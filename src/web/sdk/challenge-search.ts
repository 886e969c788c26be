/** The search for a challenge's number: SHA-256 (FIPS 180-4) over and over, in plain JavaScript. */

/**
 * The first number from `from` to `to` which, written behind the salt, has this hash; -1 if none has. `challenge` has 64
 * lower-case hexadecimal digits.
 *
 * The browser's own SHA-256 is missing on plain HTTP, and slower here: it takes a round trip for each hash. A worker gets
 * this function as text, so it must contain all that it needs.
 */
export function search(salt: string, challenge: string, from: number, to: number): number {
  // The first 32 bits of the fractional parts of the roots of primes: square roots to begin with, cube roots for rounds.
  const start = new Int32Array(8);
  const rounds = new Int32Array(64);
  for (let prime = 2, count = 0; count < 64; prime++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= prime; divisor++) isPrime &&= prime % divisor > 0;
    if (!isPrime) continue;
    // A remainder by 1 is the fraction: shifts would lose it.
    if (count < 8) start[count] = (prime ** (1 / 2) % 1) * 2 ** 32;
    rounds[count++] = (prime ** (1 / 3) % 1) * 2 ** 32;
  }
  const words = new Int32Array(64);
  const state = new Int32Array(8);
  const at = (array: Int32Array, index: number) => array[index] as number;

  function addBlock(bytes: Uint8Array, offset: number): void {
    for (let i = 0; i < 16; i++) {
      const byte = offset + i * 4;
      words[i] =
        ((bytes[byte] as number) << 24) |
        ((bytes[byte + 1] as number) << 16) |
        ((bytes[byte + 2] as number) << 8) |
        (bytes[byte + 3] as number);
    }
    for (let i = 16; i < 64; i++) {
      const early = at(words, i - 15);
      const late = at(words, i - 2);
      const mixedEarly = ((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3);
      const mixedLate = ((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10);
      words[i] = at(words, i - 16) + mixedEarly + at(words, i - 7) + mixedLate;
    }
    let a = at(state, 0);
    let b = at(state, 1);
    let c = at(state, 2);
    let d = at(state, 3);
    let e = at(state, 4);
    let f = at(state, 5);
    let g = at(state, 6);
    let h = at(state, 7);
    for (let i = 0; i < 64; i++) {
      const turnedE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + turnedE + ((e & f) ^ (~e & g)) + at(rounds, i) + at(words, i)) | 0;
      const turnedA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (turnedA + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    state[0] = at(state, 0) + a;
    state[1] = at(state, 1) + b;
    state[2] = at(state, 2) + c;
    state[3] = at(state, 3) + d;
    state[4] = at(state, 4) + e;
    state[5] = at(state, 5) + f;
    state[6] = at(state, 6) + g;
    state[7] = at(state, 7) + h;
  }

  const wanted = new Int32Array(8);
  for (let i = 0; i < 8; i++) wanted[i] = Number.parseInt(challenge.slice(i * 8, i * 8 + 8), 16);
  const head = new TextEncoder().encode(salt);
  // What is before the number's block is the same for all of them.
  const done = head.length - (head.length % 64);
  state.set(start);
  for (let offset = 0; offset < done; offset += 64) addBlock(head, offset);
  const begun = state.slice();
  const rest = head.subarray(done);

  let tail = new Uint8Array();
  let tailDigits = 0;
  for (let number = from; number <= to; number++) {
    const digits = String(number);
    if (digits.length > tailDigits) {
      tailDigits = digits.length;
      const length = rest.length + tailDigits;
      tail = new Uint8Array(length < 56 ? 64 : 128);
      tail.set(rest);
      tail[length] = 0x80;
      new DataView(tail.buffer).setUint32(tail.length - 4, (done + length) * 8);
    }
    for (let i = 0; i < tailDigits; i++) tail[rest.length + i] = digits.charCodeAt(i);
    state.set(begun);
    for (let offset = 0; offset < tail.length; offset += 64) addBlock(tail, offset);
    let same = 0;
    while (same < 8 && state[same] === wanted[same]) same++;
    if (same === 8) return number;
  }
  return -1;
}
