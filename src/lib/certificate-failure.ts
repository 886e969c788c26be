/** Determines whether a TLS handshake failed because the other side's certificate cannot be trusted. */

/** By the code of the error, as OpenSSL names it. Not meant is a certificate for another name: that has its own code. */
export function isUntrustedCertificate(code: string): boolean {
  return /^(?!ERR_).*(CERT|SIGNED|ISSUER|LEAF_SIGNATURE|EXPIRED|INVALID_CA|INVALID_PURPOSE)/.test(code);
}
