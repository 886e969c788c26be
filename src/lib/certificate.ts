/** Whether a certificate and a key belong together, and how long the certificate holds. */

/** A certificate chain and its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Throws an `Error` with a sentence where the pair cannot serve. */
export function readCertificateExpiry({ cert, key }: Certificate): number {
  // Not imported: loading it takes milliseconds of a start, and behind a proxy it is not needed.
  const { createPrivateKey, X509Certificate } = process.getBuiltinModule("node:crypto");
  const certificate = parse("the certificate is not in PEM", () => new X509Certificate(cert));
  const privateKey = parse("the private key is not in PEM, or is encrypted", () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) throw new Error("the private key is not the certificate's");
  return Date.parse(certificate.validTo);
}

function parse<Value>(problem: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(problem, { cause: error });
  }
}
