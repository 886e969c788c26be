// Writes the clients that others generate from the API document: generate.mjs <openapi.json> <folder>
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypescript, { astToString } from "openapi-typescript";

const [document, folder] = process.argv.slice(2);

writeFileSync(join(folder, "schema.d.ts"), astToString(await openapiTypescript(pathToFileURL(document))));
await createClient({
  input: document,
  output: { path: join(folder, "hey-api"), entryFile: true },
  plugins: ["@hey-api/typescript", "@hey-api/client-fetch", "@hey-api/sdk"],
  logs: { level: "error", file: false },
});
