/**
 * Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, 30 seconds, as every authenticator app supports.
 */

const stepMs = 30_000;
const digits = 6;
/** Clocks differ and typing takes time, so the codes of the previous and the next step are accepted too. */
const driftSteps = 1;
/** 160 bits, as RFC 4226 (section 4) recommends. */
export const totpSecretBytes = 20;

const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / stepMs);
}

export function totpCode(secret: Uint8Array, step: number): string {
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const digest = new Bun.CryptoHasher("sha1", secret).update(counter.buffer).digest();
  // Dynamic truncation, RFC 4226 section 5.3.
  const number = digest.readUInt32BE((digest[digest.length - 1] ?? 0) & 0xf) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The step of the code, if it is later than `lastStep`; null if no acceptable step has this code. */
export function findTotpStep(
  secret: Uint8Array,
  code: string,
  { nowMs, lastStep }: { nowMs: number; lastStep: number | null },
): number | null {
  const now = totpStep(nowMs);
  let found: number | null = null;
  // Check every step, so that the time taken reveals nothing about the secret.
  for (let step = now - driftSteps; step <= now + driftSteps; step++) {
    if (totpCode(secret, step) === code && step > (lastStep ?? -1)) found ??= step;
  }
  return found;
}

/** RFC 4648, without padding, for people to type. */
export function toBase32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += base32.charAt((held >>> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + base32.charAt((held << (5 - bits)) & 31) : text;
}

/** The content of the QR code, in the form that authenticator apps agree on. The issuer must not contain a colon. */
export function otpauthUrl(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const parameters = `secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?${parameters}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`;
}
