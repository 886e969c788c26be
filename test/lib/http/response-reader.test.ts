import { describe, expect, test } from "bun:test";
import { HttpProtocolError, ResponseReader } from "../../../src/lib/http/response-reader.ts";
import { createRandom } from "../../support/random.ts";

function read(...reads: string[]) {
  const reader = new ResponseReader();
  let body = "";
  for (const bytes of reads) body += reader.push(bytes);
  const isWhole = reader.finish();
  return { status: reader.head?.status, body, isWhole, canReuse: reader.canReuse, reader };
}

const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

describe("a response", () => {
  test("with a length ends there", () => {
    const { body, isWhole, canReuse, reader } = read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    expect({ body, isWhole, canReuse }).toEqual({ body: "hello", isWhole: true, canReuse: true });
    expect(reader.isDone).toBe(true);
  });

  test("in chunks is put together, without extensions and trailers", () => {
    const bytes = `${chunked}5;name=value\r\nhello\r\nA\r\n, chunked!\r\n0\r\nX-Trailer: 1\r\n\r\n`;
    expect(read(bytes)).toMatchObject({ body: "hello, chunked!", isWhole: true, canReuse: true });
  });

  test("without either ends with the connection, which is not used again", () => {
    expect(read("HTTP/1.1 200 OK\r\n\r\nall", " of it")).toMatchObject({
      body: "all of it",
      isWhole: true,
      canReuse: false,
    });
  });

  test("is broken where the connection ends before it does", () => {
    expect(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell").isWhole).toBe(false);
    expect(read(`${chunked}5\r\nhello\r\n`).isWhole).toBe(false);
    expect(read("HTTP/1.1 200").isWhole).toBe(false);
    expect(read().isWhole).toBe(false);
  });

  test("may have no body", () => {
    expect(read("HTTP/1.1 204 No Content\r\n\r\n")).toMatchObject({ body: "", isWhole: true, canReuse: true });
    expect(read("HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n")).toMatchObject({ status: 500, isWhole: true });
  });

  test("may be announced by others", () => {
    const bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno";
    expect(read(bytes)).toMatchObject({ status: 404, body: "no", isWhole: true });
  });

  test("closes the connection where it says so, or is of HTTP/1.0", () => {
    const length = "Content-Length: 0\r\n\r\n";
    expect(read(`HTTP/1.1 200 OK\r\nConnection: Keep-Alive, Close\r\n${length}`).canReuse).toBe(false);
    expect(read(`HTTP/1.0 200 OK\r\n${length}`).canReuse).toBe(false);
  });

  test("that states its length in two ways is refused, in either order", () => {
    for (const lengths of [
      "Content-Length: 5\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\nContent-Length: 5",
    ]) {
      const { reader, body } = read(`HTTP/1.1 200 OK\r\n${lengths}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`);
      expect({ body, failure: reader.failure?.message }).toEqual({
        body: "",
        failure: "not an HTTP/1.1 response: two headers that give its length",
      });
    }
  });

  test("followed by unrequested bytes makes the connection unusable", () => {
    expect(read(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK`).canReuse).toBe(false);
    expect(read(`${chunked}0\r\n\r\n`, "x").canReuse).toBe(false);
  });

  test("has header names in lower case and values without white space around", () => {
    const { reader } = read("HTTP/1.1 200 OK\r\nX-Request-ID:  a b \r\nEmpty:\r\nContent-Length: 0\r\n\r\n");
    expect(Object.fromEntries(reader.head?.headers ?? [])).toEqual({
      "x-request-id": "a b",
      empty: "",
      "content-length": "0",
    });
  });
});

test("any split of the bytes gives the same response", () => {
  const random = createRandom(4);
  const bytes = `HTTP/1.1 100 Continue\r\n\r\n${chunked}5;x=y\r\nhello\r\n1\r\n\n\r\n0012\r\n${"\r\n".repeat(9)}\r\n0\r\nA: b\r\n\r\n`;
  const { reader: _, ...whole } = read(bytes);
  for (let round = 0; round < 2000; round++) {
    const reads: string[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + random.below(1 + random.below(40));
      reads.push(bytes.slice(at, at + length));
      at += length;
    }
    const { reader: __, ...pieces } = read(...reads);
    expect(pieces).toEqual(whole);
  }
});

const malformed: [string, string][] = [
  ["another protocol", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
  ["HTTP/2", "HTTP/2 200\r\n\r\n"],
  ["heads without end before the actual one", "HTTP/1.1 100 Continue\r\n\r\n".repeat(3000)],
  ["trailers without end", `${chunked}0\r\n${"A: b\r\n".repeat(12_000)}`],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a header without a colon", "HTTP/1.1 200 OK\r\nfoo\r\n\r\n"],
  ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
  ["two different lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
  ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"],
  ["an unknown transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"],
  ["a compressed body", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n"],
  ["a chunk size that is no number", `${chunked}zz\r\n`],
  ["an empty chunk size", `${chunked}\r\n`],
  ["a chunk size beyond reason", `${chunked}fffffffff\r\n`],
  ["a chunk longer than its size", `${chunked}1\r\nab\r\n`],
  ["an endless head", `HTTP/1.1 200 OK\r\n${"X-A: b\r\n".repeat(10_000)}`],
  ["an endless size line", `${chunked}1;${"x".repeat(2000)}`],
];

for (const [name, bytes] of malformed) {
  test(`${name} is refused`, () => {
    expect(read(bytes).reader.failure).toBeInstanceOf(HttpProtocolError);
  });
}

test("what came before a breach counts, in one read with it or in another", () => {
  const sound = `${chunked}5\r\nhello\r\n`;
  for (const reads of [[`${sound}zz\r\nmore`], [sound, "zz\r\n", "1\r\nx\r\n"], [sound, "z", "z\r\n"]]) {
    const { body, isWhole, reader } = read(...reads);
    expect({ body, isWhole }).toEqual({ body: "hello", isWhole: false });
    expect(reader.failure).toBeInstanceOf(HttpProtocolError);
  }
});
