/** Bodies that come in the smallest pieces there are. */
import { expect, test } from "bun:test";
import { readPieces } from "../../src/http/body-pieces.ts";
import { startTestServer } from "../support/app.ts";
import { connectRaw } from "../support/raw-visitor.ts";
import { countTurns } from "../support/turns-of-the-loop.ts";

function post(body: RequestInit["body"]): Request {
  return new Request("http://companion.test/", { method: "POST", body });
}

test("everything else has its turn between small pieces, and all of them are read", async () => {
  const pieces = Array.from({ length: 500 }, (_, at) => Uint8Array.of(at % 256));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const read: Uint8Array[] = [];
  const turns = await countTurns(async () => {
    for await (const piece of readPieces(post(body), null)) read.push(piece);
  });
  expect(Buffer.concat(read)).toEqual(Buffer.concat(pieces));
  expect(turns).toBeGreaterThan(400);
});

test("a body in chunks of one byte is understood, and one that is too large refused", async () => {
  const server = await startTestServer();
  const { embedToken } = await server.createCompanion();
  const send = async (json: string) => {
    const visitor = await connectRaw(server.url);
    visitor.write(
      `POST /api/embed/${embedToken}/chat HTTP/1.1\r\nHost: companion.test\r\nContent-Type: application/json\r\n` +
        `Transfer-Encoding: chunked\r\n\r\n${[...json].map((byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`,
    );
    const head = await visitor.until((received) => received.includes("\r\n\r\n"));
    visitor.vanish();
    return head.split("\r\n", 1)[0];
  };
  expect(await send('{"message":"one byte at a time"}')).toBe("HTTP/1.1 200 OK");
  expect(await send(`{"message":"${"x".repeat(64 * 1024)}"}`)).toStartWith("HTTP/1.1 413 ");
  await server.close();
});
