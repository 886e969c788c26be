/** What a server sees of its own names. */
import { expect, test } from "bun:test";
import { createNameCheck } from "../../src/core/certificates/name-check.ts";

const token = "a-token-of-this-server";

/** Answers as the server does, or as something else. */
function serve(respond: (url: URL) => Response) {
  return Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: ({ url }) => respond(new URL(url)) });
}

test("a name that leads here is found to", async () => {
  const asked: string[] = [];
  await using own = serve(({ pathname }) => {
    asked.push(pathname);
    return new Response("the answer");
  });
  expect(await createNameCheck(own.port)("localhost", { token, answer: "the answer" })).toBeNull();
  expect(asked).toEqual([`/.well-known/acme-challenge/${token}`]);
});

test.each([
  ["another answer", () => new Response("parked")],
  ["a redirect", () => Response.redirect("https://elsewhere.example/", 301)],
  ["an answer that begins like it", () => new Response("the answer, and more")],
])("%s is something else", async (_, respond) => {
  await using other = serve(respond);
  expect(await createNameCheck(other.port)("localhost", { token, answer: "the answer" })).toEqual({
    isMissing: false,
    sentence: "From here, localhost points to 127.0.0.1, which answers as something else.",
  });
});

test("a port that nobody listens on may be one that the network does not lead back to", async () => {
  expect(await createNameCheck(1)("localhost", { token, answer: "the answer" })).toEqual({
    isMissing: false,
    sentence: "From here, localhost points to 127.0.0.1, which does not answer on port 80.",
  });
});

test.each([
  ["ENOTFOUND", true, "localhost does not resolve yet. Add an A or AAAA record that points to this server."],
  ["EAI_AGAIN", false, "From here, localhost does not answer on port 80."],
])("a name server that says %s", async (code, isMissing, sentence) => {
  const check = createNameCheck(1, () => Promise.reject(Object.assign(new Error(code), { code })));
  expect(await check("localhost", { token, answer: "the answer" })).toEqual({ isMissing, sentence });
});
