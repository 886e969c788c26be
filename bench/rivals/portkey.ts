/** Rival (d): Portkey's gateway from npm on Bun, where `PORTKEY_DIRECTORY` names a directory that has it installed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { planMessage } from "../load/plan.ts";
import { pinned, serverCore, stop } from "../load/processes.ts";
import { type Contender, freePort, manyFetches, untilListening } from "./start.ts";

const directory = process.env["PORTKEY_DIRECTORY"];
const entry = join(directory ?? "", "node_modules/@portkey-ai/gateway/build/start-server.js");

export async function startPortkey(providerPort: number): Promise<Contender | null> {
  if (directory === undefined || !existsSync(entry)) return null;
  const port = await freePort();
  const child = Bun.spawn(pinned(serverCore, ["bun", entry, `--port=${port}`, "--headless"]), {
    stdout: "ignore",
    stderr: "ignore",
    env: { PATH: process.env["PATH"] ?? "", ...manyFetches },
  });
  await untilListening(port);
  const chatPath = "/v1/chat/completions";
  const body = (message: string) =>
    JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: message }] });
  return {
    name: "Portkey gateway",
    pid: child.pid,
    port,
    chatPath,
    // The gateway takes its target from headers, which the visitors' process adds to this path only.
    headers: {
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${providerPort}/v1`,
      authorization: "Bearer sk-bench",
    },
    bodyFor: (plan) => body(planMessage(plan)),
    configPath: null,
    stop: () => stop(child),
  };
}
