/** What the listener speaks with whoever connects over TLS, also under a certificate that took another's place. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type SecureVersion } from "node:tls";
import type { Certificate } from "../src/lib/certificate.ts";
import { type Listener, openListener } from "../src/server/listener.ts";

function readCertificate(name: string): Certificate {
  const read = (part: string) => readFileSync(join(import.meta.dir, `fixtures/tls/${name}.${part}.pem`), "utf8");
  return { cert: read("cert"), key: read("key") };
}

let listener: Listener;
beforeAll(() => {
  const handle = () => new Response("answered");
  // With a key of RSA, since one of elliptic curves leaves the suites in question no way to be chosen.
  listener = openListener({ host: "127.0.0.1", port: 0, tls: readCertificate("rsa"), handle, direct: {} });
});
afterAll(() => listener.cut());

/** What both sides agreed on, or "refused". */
async function agree(version: SecureVersion, ciphers?: string): Promise<string> {
  const socket = connect({
    host: "127.0.0.1",
    port: listener.port,
    rejectUnauthorized: false,
    minVersion: version,
    maxVersion: version,
    ...(ciphers === undefined ? {} : { ciphers }),
  });
  try {
    await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    return `${socket.getProtocol()} ${socket.getCipher().name}`;
  } catch {
    return "refused";
  } finally {
    socket.destroy();
  }
}

const weak = ["AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA"];
const sound = ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"];

describe.each(["at first", "after the certificate was replaced"])("%s", (when) => {
  beforeAll(() => {
    if (when !== "at first") listener.replaceCertificate(readCertificate("rsa"));
  });

  test.each(weak)("refuses %s, which has no forward secrecy or no authentication of its own", async (cipher) => {
    expect(await agree("TLSv1.2", cipher)).toBe("refused");
  });

  test.each(sound)("takes %s", async (cipher) => {
    expect(await agree("TLSv1.2", cipher)).toBe(`TLSv1.2 ${cipher}`);
  });

  test("takes TLS 1.3", async () => {
    expect(await agree("TLSv1.3")).toStartWith("TLSv1.3 ");
  });
});
