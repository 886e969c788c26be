/** Checks that a certificate and a key match, reads when it expires, and knows the failures of one that is not trusted. */

/** A certificate chain and its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Epoch milliseconds. Throws an `Error` with a readable sentence if the pair is unusable. */
export function readCertificateExpiry({ cert, key }: Certificate): number {
  // Loaded on demand: an import would add milliseconds to every start, and behind a proxy it is not needed.
  const { createPrivateKey, X509Certificate } = process.getBuiltinModule("node:crypto");
  const certificate = parse("the certificate is not PEM", () => new X509Certificate(cert));
  const privateKey = parse("the private key is not PEM, or it is encrypted", () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) throw new Error("the private key does not belong to the certificate");
  return Date.parse(certificate.validTo);
}

function parse<Value>(problem: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(problem, { cause: error });
  }
}

/** By the code of the error, as OpenSSL names it. Not meant is a certificate for another name: that has its own code. */
export function isUntrustedCertificate(code: string): boolean {
  return /^(?!ERR_).*(CERT|SIGNED|ISSUER|LEAF_SIGNATURE|EXPIRED|INVALID_CA|INVALID_PURPOSE)/.test(code);
}
