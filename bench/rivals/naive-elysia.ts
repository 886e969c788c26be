/** Rival (c): the openai package's own stream in an Elysia generator, the usual way to write a chat endpoint. */
import { Elysia, sse, t } from "elysia";
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "sk-bench", baseURL: `${process.argv[2] ?? ""}/v1` });

const app = new Elysia()
  .post(
    "/chat",
    async function* ({ body }) {
      const stream = await client.chat.completions.create({
        model: "bench",
        stream: true,
        messages: [{ role: "user", content: body.message }],
      });
      for await (const chunk of stream) {
        const text = chunk.choices[0]?.delta.content;
        if (text) yield sse({ data: { text } });
      }
      yield sse({ data: "[DONE]" });
    },
    { body: t.Object({ message: t.String() }) },
  )
  .listen({ hostname: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ port: app.server?.port }));
