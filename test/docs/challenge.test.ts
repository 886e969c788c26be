/** The page for those who write their own client: its program, run as it stands. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { readStream } from "../support/chat.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const [source = ""] = codeBlocks(await Bun.file("docs/challenge.md").text(), "js");
using directory = temporaryDirectory();
await Bun.write(directory.file("client.mjs"), source);
const client: { post(url: string, body: object): Promise<Response> } = await import(directory.file("client.mjs"));

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test("its client is answered, whether the companion asks or not", async () => {
  for (const challenge of ["off", "always"] as const) {
    const { embedToken } = await server.createCompanion({ challenge });
    const response = await client.post(`${server.url}/api/embed/${embedToken}/chat`, { message: "hello" });
    expect(readStream(await response.text())).toEqual({ texts: ["You ", "said: ", "hello"], isDone: true });
  }
});

test("its client tells another refusal apart", async () => {
  const { embedToken } = await server.createCompanion({
    challenge: "always",
    allowedOrigins: ["https://shop.example"],
  });
  await expect(client.post(`${server.url}/api/embed/${embedToken}/chat`, { message: "hello" })).rejects.toThrow(
    "website",
  );
});
