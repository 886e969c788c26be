/** Knowledge by meaning, over whole requests: embedded after it answers by words, found, and counted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiClient } from "../../support/api-client.ts";
import { startTestServer, type TestServer } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { isEmbeddingRequest, respondWithEmbeddings } from "../../support/mock-embeddings.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_EMBEDDING_MODEL: "embed-1" } });
  const respond = respondWithEmbeddings();
  server.mockLlm.respond((request, response) => {
    const texts = Array.isArray(request.body.input) ? request.body.input.map(String) : [];
    // To this model, both are the same word.
    const input = texts.map((text) => text.replaceAll("automobile", "car"));
    return respond({ ...request, body: { ...request.body, input } }, response);
  });
});
afterAll(() => server.close());

test("a passage is found by another word for the same, its tokens are in usage, and words do where the provider refuses", async () => {
  const account = await server.createAccount();
  const companion = await server.createCompanion({}, account);
  const api = apiClient(server.url, (await server.createKey(account)).key);
  const base = `/api/companions/${companion.id}`;
  for (const [title, text] of [
    ["Cars", "# Garage\n\nRepairing a car"],
    ["Bread", "Baking rye bread"],
  ]) {
    expect((await api.call("POST", `${base}/sources`, { type: "text", title, text })).status).toBe(202);
  }
  const search = async (query: string) => {
    const { json } = await api.call("POST", `${base}/knowledge/search`, { query, limit: 1 });
    return (json as unknown as { data: { title: string }[] }).data.map(({ title }) => title);
  };
  await eventually(async () => (await search("automobile"))[0] === "Cars");
  await eventually(async () => (await search("rye"))[0] === "Bread");
  const embedded = server.mockLlm.requests.filter(isEmbeddingRequest).flatMap(({ body }) => body.input as string[]);
  expect(embedded.filter((text) => text.includes("Repairing"))).toHaveLength(1);
  const { json } = await api.call("GET", "/api/usage?group_by=model");
  const rows = (json as unknown as { data: { model: string; input_tokens: number; messages: number }[] }).data;
  const used = rows.find(({ model }) => model === "embed-1");
  expect(used?.messages).toBe(0);
  expect(used?.input_tokens).toBeGreaterThan(0);
  server.mockLlm.respond((_, response) => response.send(400, {}, "{}"));
  expect(await search("rye")).toEqual(["Bread"]);
});
