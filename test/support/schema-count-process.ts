/** Prints how many schemas are created by loading the routes, and how many more by describing them. */
import { TypeSystemPolicy } from "@sinclair/typebox/system";

let count = 0;
// TypeBox reads this each time it creates a schema.
Object.defineProperty(TypeSystemPolicy, "InstanceMode", {
  get() {
    count++;
    return "default";
  },
});

async function countSchemas(load: () => Promise<unknown>): Promise<number> {
  const before = count;
  await load();
  return count - before;
}

// The framework creates some of its own.
await import("elysia");
const bySitemap = await countSchemas(() => import("../../src/app/app.ts"));
const byDescriptions = await countSchemas(async () => {
  const { buildDocument } = await import("../../src/api/docs/document.ts");
  const { routes } = await import("../../src/app/routes.ts");
  buildDocument(routes, { baseUrl: "", version: "0.0.0" });
});
console.log(JSON.stringify({ bySitemap, byDescriptions }));
