/** Tells how many schemas are made by loading the sitemap, and how many by loading the API's descriptions after it. */
import { TypeSystemPolicy } from "@sinclair/typebox/system";

let count = 0;
// TypeBox looks here each time that it makes a schema.
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

// The framework makes some of its own.
await import("elysia");
const bySitemap = await countSchemas(() => import("../../src/app.ts"));
const byDescriptions = await countSchemas(() => import("../../src/api-operations.ts"));
console.log(JSON.stringify({ bySitemap, byDescriptions }));
