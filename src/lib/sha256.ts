/** SHA-256 (FIPS 180-4), of a text's UTF-8 bytes. */

/** As 32 bytes. */
export function sha256(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array;
}

/** As 64 lower-case hexadecimal digits. */
export function sha256Hex(content: string | Uint8Array): string {
  return Bun.SHA256.hash(content, "hex");
}
