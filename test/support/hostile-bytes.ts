/** Bytes that are not a request, or that no honest client sends, each with a description. */

const path = "/api/embed/x";
export const hostileBytes: readonly (readonly [string, string])[] = [
  ["no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n"],
  ["zero bytes", "\0".repeat(4_096)],
  ["an unknown protocol version", `GET ${path} HTTP/9.9\r\nHost: a\r\n\r\n`],
  ["no Host", `GET ${path} HTTP/1.1\r\n\r\n`],
  [
    "two Content-Lengths",
    `POST ${path}/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde`,
  ],
  [
    "Content-Length beside Transfer-Encoding",
    `POST ${path}/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`,
  ],
  ["a negative Content-Length", `POST ${path}/chat HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n`],
  [
    "a chunk size that is no number",
    `POST ${path}/chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`,
  ],
  ["a bare carriage return in a header", `GET ${path} HTTP/1.1\r\nHost: a\rX: b\r\n\r\n`],
  ["a folded header", `GET ${path} HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n`],
  [
    "a flood of headers",
    `GET ${path} HTTP/1.1\r\nHost: a\r\n${Array.from({ length: 5_000 }, (_, n) => `X-${n}: y\r\n`).join("")}\r\n`,
  ],
  ["a header of 200 KiB", `GET ${path} HTTP/1.1\r\nHost: a\r\nX: ${"y".repeat(204_800)}\r\n\r\n`],
  ["a path of 100 KiB", `GET /${"a".repeat(102_400)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ["a body announced as 99 GB", `POST ${path}/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000000\r\n\r\nabc`],
  ["escapes that are none in a path", "GET /api/embed/%zz%00%ff HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["dots in a path", "GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["an absolute form for elsewhere", "GET http://evil.example/api/companions HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["a method of its own", `BREW ${path} HTTP/1.1\r\nHost: a\r\n\r\n`],
];
