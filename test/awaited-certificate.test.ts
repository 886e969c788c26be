/** HTTPS before its first certificate, and streams that go on while certificates are replaced. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import type { Certificate } from "../src/lib/certificate.ts";
import { type Listener, ListenFailure, listenOn, openListener } from "../src/server/listener.ts";

function readCertificate(name: string): Certificate {
  const read = (part: string) => readFileSync(join(import.meta.dir, `fixtures/tls/${name}.${part}.pem`), "utf8");
  return { cert: read("cert"), key: read("key") };
}

/** What the last request to `/stream` gets next; null ends it. */
let say: (text: string | null) => void = () => {};

function handle(request: Request): Response {
  if (!request.url.endsWith("/stream")) return new Response(request.url);
  const body = new ReadableStream({
    start(controller) {
      say = (text) => (text === null ? controller.close() : controller.enqueue(new TextEncoder().encode(text)));
      say("0");
    },
  });
  return new Response(body);
}

const open = (fields: { host?: string; port?: number; tls?: Certificate | "awaited" } = {}) =>
  openListener({ host: "127.0.0.1", port: 0, tls: "awaited", handle, direct: {}, ...fields });

/** The name on the certificate, or why there is none. */
async function shake(listener: Listener, host = "127.0.0.1"): Promise<string> {
  const socket = connect({ host, port: listener.port, rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    return String(socket.getPeerCertificate().subject.CN);
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    socket.destroy();
  }
}

interface OpenStream {
  /** Resolves with everything received once that is so long. */
  received(length: number): Promise<string>;
  /** Resolves when the response has ended properly. */
  ended: Promise<void>;
}

async function openStream(listener: Listener): Promise<OpenStream> {
  const response = await fetch(`https://127.0.0.1:${listener.port}/stream`, { tls: { rejectUnauthorized: false } });
  return follow(response.body ?? new ReadableStream());
}

function follow(source: AsyncIterable<Uint8Array>): OpenStream {
  let text = "";
  let wake = () => {};
  const ended = (async () => {
    for await (const bytes of source) {
      text += Buffer.from(bytes).toString();
      wake();
    }
  })();
  return {
    ended,
    async received(length) {
      while (text.length < length) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
      return text;
    },
  };
}

describe("from no certificate to the third", () => {
  let listener: Listener;
  beforeAll(() => {
    listener = open();
  });
  afterAll(() => listener.cut());

  test("handshakes are refused at once until there is a certificate", async () => {
    expect(await shake(listener)).toBe("ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR");
    listener.replaceCertificate(readCertificate("one"));
    expect(await shake(listener)).toBe("one.test");
  });

  test("a stream goes on while the certificate is replaced twice", async () => {
    const stream = await openStream(listener);
    expect(await stream.received(1)).toBe("0");
    for (const [index, name] of ["two", "one"].entries()) {
      listener.replaceCertificate(readCertificate(name));
      expect(await shake(listener)).toBe(`${name}.test`);
      say(String(index + 1));
      expect(await stream.received(index + 2)).toBe("012".slice(0, index + 2));
    }
    say(null);
    await stream.ended;
  });

  test("a stream ends before the listener does", async () => {
    const stream = await openStream(listener);
    expect(await stream.received(1)).toBe("0");
    const stopped = listener.stop();
    expect(await shake(listener)).toBe("ECONNREFUSED");
    say("1");
    say(null);
    expect(await stream.received(2)).toBe("01");
    await stream.ended;
    await stopped;
  });
});

test("the port is taken from the start, though there is nothing to serve yet", async () => {
  const listener = open();
  expect(() => open({ port: listener.port })).toThrow(ListenFailure);
  expect(() => open({ port: listener.port, tls: readCertificate("one") })).toThrow(ListenFailure);
  await listener.stop();
  const next = open({ port: listener.port, tls: readCertificate("one") });
  expect(() => open({ port: listener.port })).toThrow(ListenFailure);
  await next.cut();
});

test("a certificate that cannot be used leaves the port held", async () => {
  const listener = open();
  const { cert } = readCertificate("one");
  expect(() => listener.replaceCertificate({ cert, key: "no key" })).toThrow();
  expect(await shake(listener)).toBe("ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR");
  listener.replaceCertificate(readCertificate("two"));
  expect(await shake(listener)).toBe("two.test");
  await listener.cut();
});

test.each(["awaited", "there"])("all addresses are those of IPv4 and of IPv6 (the certificate is %s)", async (when) => {
  const listener = open({ host: "::", tls: when === "there" ? readCertificate("one") : "awaited" });
  const expected = when === "there" ? "one.test" : "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR";
  expect(await shake(listener, "127.0.0.1")).toBe(expected);
  expect(await shake(listener, "::1")).toBe(expected);
  await listener.cut();
});

test("on a machine without IPv6, all addresses are those of IPv4", () => {
  const failWith = (code: string) => Object.assign(new Error(code), { code });
  const tried: string[] = [];
  const listenWithout = (code: string) => (hostname: string) => {
    tried.push(hostname);
    if (hostname === "::") throw failWith(code);
    return hostname;
  };
  // As the kernel says it where IPv6 is off.
  expect(listenOn("::", 443, listenWithout("EAFNOSUPPORT"))).toBe("0.0.0.0");
  for (const code of ["EADDRINUSE", "EACCES"]) expect(() => listenOn("::", 443, listenWithout(code))).toThrow(code);
  expect(tried).toEqual(["::", "0.0.0.0", "::", "::"]);
});
