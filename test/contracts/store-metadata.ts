/** What every storage engine must do with metadata filters. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { MetadataFilter } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { JsonObject, JsonValue } from "../../src/domain/companion.ts";
import { createRandom } from "../support/random.ts";
import { newCompanion, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

/** The rule as a scan: at each step any number of the path's parts may name the key. */
function matches(value: JsonValue, parts: readonly string[], wanted: string): boolean {
  if (Array.isArray(value)) return value.some((element) => matches(element, parts, wanted));
  if (typeof value !== "object" || value === null) {
    return parts.length === 0 && (typeof value === "string" ? value : JSON.stringify(value)) === wanted;
  }
  return parts.some((_, at) => {
    const name = parts.slice(0, at + 1).join(".");
    return Object.hasOwn(value, name) && matches(value[name] ?? null, parts.slice(at + 1), wanted);
  });
}

function matchesAll(metadata: JsonObject, filters: readonly MetadataFilter[]): boolean {
  return filters.every(({ path, value, isKey }) => matches(metadata, isKey ? [path] : path.split("."), value));
}

type Random = ReturnType<typeof createRandom>;

const names = ["a", "b", "a.b", "", ".", "plan"] as const;
const scalars: readonly [JsonValue, ...JsonValue[]] = ["5", 5, "true", true, null, "null", "", "x", 1.5, "a.b", "5 "];

function randomValue(random: Random, depth: number): JsonValue {
  const kind = random.below(depth > 2 ? 1 : 4);
  if (kind === 2) return Array.from({ length: random.below(3) }, () => randomValue(random, depth + 1));
  if (kind === 3) return randomObject(random, depth + 1);
  return random.pick(scalars);
}

function randomObject(random: Random, depth: number): JsonObject {
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [random.pick(names), randomValue(random, depth)]),
  );
}

export function metadataContract(open: OpenStore): void {
  describe("metadata filters", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    async function find(...metadata: MetadataFilter[]): Promise<string[]> {
      const page = await world.store.companions.list(account.id, { metadata, q: null }, { limit: 100, afterId: null });
      return page.items.map((item) => item.name);
    }

    const cases: [name: string, metadata: JsonObject, path: string, value: string, isMatch: boolean][] = [
      ["a string", { plan: "pro" }, "plan", "pro", true],
      ["a string in another case", { plan: "pro" }, "plan", "Pro", false],
      ["part of a string", { plan: "pro" }, "plan", "pr", false],
      ["a number by its text", { id: 5 }, "id", "5", true],
      ["a string of digits", { id: "5" }, "id", "5", true],
      ["a number by another notation", { id: 5 }, "id", "5.0", false],
      ["a fraction", { id: 0.1 }, "id", "0.1", true],
      ["a boolean", { on: true }, "on", "true", true],
      ["a null", { on: null }, "on", "null", true],
      ["a missing field as null", {}, "on", "null", false],
      ["a nested field", { user: { id: 42 } }, "user.id", "42", true],
      ["a name with a dot", { "user.id": 42 }, "user.id", "42", true],
      ["a name with a dot inside", { a: { "b.c": { d: 1 } } }, "a.b.c.d", "1", true],
      ["an element of an array", { tags: ["a", "b"] }, "tags", "b", true],
      ["an object in an array", { users: [{ id: 1 }, { id: 2 }] }, "users.id", "2", true],
      ["an array by its index", { tags: ["a"] }, "tags.0", "a", false],
      ["an array in an array", { tags: [["a"]] }, "tags", "a", true],
      ["an object as a value", { user: { id: 1 } }, "user", '{"id":1}', false],
      ["an empty name", { "": "x" }, "", "x", true],
      ["an empty value", { plan: "" }, "plan", "", true],
      ["quotes and SQL", { "'; DROP TABLE companions; --": '"x"' }, "'; DROP TABLE companions; --", '"x"', true],
      ["a wildcard", { plan: "pro" }, "plan", "%", false],
      ["brackets and unicode", { "ключ[0]": "значение🧵" }, "ключ[0]", "значение🧵", true],
      ["a name of Object.prototype", { constructor: "x" }, "constructor", "x", true],
      ["a name of Object.prototype that is not there", {}, "toString", "x", false],
      ["a long value", { text: "x".repeat(5000) }, "text", "x".repeat(5000), true],
      ["a long value that differs at its end", { text: "x".repeat(5000) }, "text", `${"x".repeat(4999)}y`, false],
      ["a long name", { ["n".repeat(300)]: { m: 1 } }, `${"n".repeat(300)}.m`, "1", true],
    ];
    test.each(cases)("on %s", async (_, metadata, path, value, isMatch) => {
      await world.createCompanion(account, { name: "it", metadata });
      await world.createCompanion(account, { name: "other", metadata: { unrelated: 1 } });
      expect(await find({ path, value })).toEqual(isMatch ? ["it"] : []);
    });

    test("must all match, each anywhere", async () => {
      await world.createCompanion(account, { name: "both", metadata: { plan: "pro", region: "eu" } });
      await world.createCompanion(account, { name: "one", metadata: { plan: "pro", region: "us" } });
      await world.createCompanion(account, { name: "many", metadata: { plan: ["free", "pro"], region: "eu" } });
      expect(await find({ path: "plan", value: "pro" }, { path: "region", value: "eu" })).toEqual(["many", "both"]);
      expect(await find({ path: "plan", value: "pro" }, { path: "plan", value: "free" })).toEqual(["many"]);
      expect(await find({ path: "plan", value: "pro" }, { path: "region", value: "asia" })).toEqual([]);
      expect(await find(...Array.from({ length: 100 }, () => ({ path: "plan", value: "pro" })))).toHaveLength(3);
    });

    test("on a key leave nested fields of the same path out, whatever the key is called", async () => {
      for (const key of ["user.id", "\u0001.id", `${"long".repeat(40)}.id`]) {
        const [outer = "", inner = ""] = key.split(".");
        await world.createCompanion(account, { name: "literal", metadata: { [key]: [42] } });
        const { id } = await world.createCompanion(account, { name: "nested", metadata: { [outer]: { [inner]: 42 } } });
        expect(await find({ path: key, value: "42", isKey: true })).toEqual(["literal"]);
        expect(await find({ path: key, value: "42" })).toEqual(["nested", "literal"]);
        await world.store.companions.update(account.id, id, { metadata: { [key]: 42 } }, world.context());
        expect(await find({ path: key, value: "42", isKey: true })).toEqual(["nested", "literal"]);
      }
    });

    test("keep to the account", async () => {
      const other = await world.createAccount();
      await world.createCompanion(other, { name: "foreign", metadata: { plan: "pro" } });
      expect(await find({ path: "plan", value: "pro" })).toEqual([]);
    });

    test("follow updates, and forget what was replaced", async () => {
      const { id } = await world.createCompanion(account, { name: "it", metadata: { plan: "pro", user: { id: 1 } } });
      await world.store.companions.update(
        account.id,
        id,
        { metadata: { plan: "pro", user: { id: 2 } } },
        world.context(),
      );
      expect(await find({ path: "user.id", value: "1" })).toEqual([]);
      expect(await find({ path: "user.id", value: "2" })).toEqual(["it"]);
      expect(await find({ path: "plan", value: "pro" })).toEqual(["it"]);
    });

    test("give pages that continue where the last one ended", async () => {
      const many = Array.from({ length: 450 }, (_, at) => newCompanion({ name: `C${at}`, metadata: { plan: at % 3 } }));
      await world.store.companions.createMany(account.id, many, world.context());
      const query = { metadata: [{ path: "plan", value: "1" }], q: null };
      const found: string[] = [];
      for (let afterId: string | null = null; ; ) {
        const page = await world.store.companions.list(account.id, query, { limit: 40, afterId });
        found.push(...page.items.map((item) => item.id));
        afterId = page.nextAfterId;
        if (afterId === null) break;
      }
      const expected = many.filter((_, at) => at % 3 === 1).map((companion) => companion.id);
      expect(found).toEqual(expected.reverse());
    });

    test("find what a scan by the same rule finds, for any metadata, after any change", async () => {
      const random = createRandom(7);
      const known = new Map<string, { id: string; metadata: JsonObject }>();
      for (let at = 0; at < 150; at++) {
        const metadata = randomObject(random, 0);
        const { id } = await world.createCompanion(account, { name: `C${at}`, metadata });
        known.set(`C${at}`, { id, metadata });
      }
      for (const [name, companion] of [...known]) {
        if (random.below(4) > 1) continue;
        if (random.below(2) === 0) {
          await world.store.companions.delete(account.id, companion.id, world.context());
          known.delete(name);
        } else {
          companion.metadata = randomObject(random, 0);
          const patch = { metadata: companion.metadata };
          await world.store.companions.update(account.id, companion.id, patch, world.context());
        }
      }
      const paths = [
        "a",
        "b",
        "a.b",
        "a.a",
        "a.b.a",
        "",
        ".",
        "..",
        "plan",
        "plan.a.b",
        "a.b.a.b",
        ".a",
        "a.",
      ] as const;
      let hits = 0;
      for (let at = 0; at < 400; at++) {
        const filters = Array.from({ length: 1 + random.below(3) }, () => {
          const scalar = random.pick(scalars);
          const value = typeof scalar === "string" ? scalar : JSON.stringify(scalar);
          return { path: random.pick(paths), value, ...(random.below(3) === 0 ? { isKey: true as const } : {}) };
        });
        const expected = [...known].filter(([, { metadata }]) => matchesAll(metadata, filters)).map(([name]) => name);
        const found = await find(...filters);
        expect(found.sort()).toEqual(expected.sort().slice(0, 100));
        hits += found.length;
      }
      expect(hits).toBeGreaterThan(100);
    });
  });
}
