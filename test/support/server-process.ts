/** A server in a separate process, configured only by the environment: prints its URL, ends with its standard input. */
import { openServices } from "../../src/app/services.ts";
import { loadConfig } from "../../src/config/config.ts";
import { startServer } from "../../src/server/server.ts";

const config = loadConfig();
const server = startServer(await openServices(config), { host: "127.0.0.1", port: 0 });
console.log(server.url);
for await (const _ of Bun.stdin.stream());
await server.drain(1_000);
