/** Rival (a): a bare `Bun.serve` that hands the provider's bytes on. Also answers a static response, the ceiling for config requests. */
const provider = process.argv[2] ?? "";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  development: false,
  routes: {
    "/static": new Response(
      '{"name":"Ada","avatar_url":"http://127.0.0.1/avatars/x.svg","greeting":"Hi, I\'m Ada. How can I help you?","theme_color":"#4f46e5","has_voice":false,"has_text_agent":true,"voice_provider":"none"}',
      { headers: { "content-type": "application/json" } },
    ),
  },
  async fetch(request) {
    const { message } = (await request.json()) as { message: string };
    const upstream = await fetch(`${provider}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: message }] }),
    });
    return new Response(upstream.body, { headers: { "content-type": "text/event-stream" } });
  },
});
console.log(JSON.stringify({ port: server.port }));
