// One call of each kind, with nothing but what openapi-typescript says of it: what it prints is compared by the gate.
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./schema";

const { BASE_URL = "", API_KEY = "" } = process.env;
const client = createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${API_KEY}` } });
const show = (...values: unknown[]) => console.log(JSON.stringify(values));

// Only what is required has to be sent.
const least: components["schemas"]["NewCompanion"] = { name: "Least" };
const made = await client.POST("/api/companions", { body: least });
const companion: components["schemas"]["Companion"] | undefined = made.data;
if (companion === undefined) throw new Error("no companion");
const path = { id: companion.id };
show(made.response.status, companion.name, companion.greeting);

const message: components["schemas"]["ChatRequest"] = { message: "Hello" };
const token = companion.embed_token ?? "";
const chat = await client.POST("/api/embed/{token}/chat", {
  params: { path: { token } },
  body: message,
  parseAs: "text",
});
show(chat.data?.endsWith("data: [DONE]\n\n"));

const config = await client.GET("/api/embed/{token}", { params: { path: { token } } });
show(config.data?.name, config.data?.starters?.length);

const page = await client.GET("/api/conversations", { params: { query: { companion_id: path.id, limit: 1 } } });
const [conversation] = page.data?.data ?? [];
show(conversation?.message_count, page.data?.next_cursor);

const read = await client.GET("/api/conversations/{id}", { params: { path: { id: conversation?.id ?? "" } } });
const roles: ("user" | "assistant")[] | undefined = read.data?.messages.map(({ role }) => role);
show(roles);

const query: operations["getUsage"]["parameters"]["query"] = { group_by: "companion", companion_id: path.id };
const csv = await client.GET("/api/usage", { params: { query }, headers: { accept: "text/csv" }, parseAs: "text" });
show(csv.data?.split(",")[0]);

// A client that takes JSON alone gets rows without a question.
const ofJson = createClient<paths, "application/json">({
  baseUrl: BASE_URL,
  headers: { Authorization: `Bearer ${API_KEY}`, accept: "application/json" },
});
const usage = await ofJson.GET("/api/usage", { params: { query } });
const messages: number | undefined = usage.data?.data[0]?.messages;
show(messages);

const refused = await client.POST("/api/companions", { body: { name: "", theme_color: "red" } });
const faults: string[] | undefined = refused.error?.errors?.map(({ param }) => param);
show(refused.error?.code, faults?.sort());

const key = await client.POST("/api/keys", { body: { name: "reader", scopes: ["companions:read"] } });
const removed = await client.DELETE("/api/keys/{id}", { params: { path: { id: key.data?.id ?? "" } } });
show(removed.response.status, removed.data);

const headers: string | undefined = refused.error?.request_id;
show(headers === refused.response.headers.get("x-request-id"));
