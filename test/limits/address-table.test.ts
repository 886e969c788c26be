import { describe, expect, test } from "bun:test";
import { AddressTable } from "../../src/engines/memory/limiter/address-table.ts";
import { createRandom } from "../support/random.ts";

describe("the address table", () => {
  test("agrees with a map and a list at random, through growing, removing and clearing", () => {
    const random = createRandom(4);
    const table = new AddressTable(10_000, 3, 99);
    /** In the order of their last use: to list that apart took ten times as long as the rest. */
    let records = new Map<string, { record: number; number: number }>();
    for (let i = 0; i < 30_000; i++) {
      // Few different values, so that keys differ in one half only.
      const high = random.below(80) * 0x1000001;
      const low = (random.below(80) * 0xabcdef1) >>> 0;
      const name = `${high} ${low}`;
      const known = records.get(name);
      expect(table.find(high, low)).toBe(known?.record ?? 0);
      if (known === undefined) {
        const record = table.add(high, low);
        expect(table.numbers[table.numbersAt(record) + 2]).toBe(0);
        table.numbers[table.numbersAt(record) + 2] = i & 0xffff;
        records.set(name, { record, number: i & 0xffff });
      } else if (random.below(3) > 0) {
        expect(table.numbers[table.numbersAt(known.record) + 2]).toBe(known.number);
        table.touch(known.record);
        records.delete(name);
        records.set(name, known);
      } else {
        table.remove(known.record);
        records.delete(name);
      }
      if (i === 20_000) {
        table.clear();
        records = new Map();
      }
      expect(table.size).toBe(records.size);
      expect(table.oldest).toBe(records.values().next().value?.record ?? 0);
    }
  });

  test("finds every one of many keys, and none that is not in it", () => {
    const count = 50_000;
    const table = new AddressTable(count, 1, 12_345);
    for (let i = 0; i < count; i++) table.add(i % 7, i);
    for (let i = 0; i < count; i++) {
      expect(table.find(i % 7, i)).toBe(i + 1);
      expect(table.find((i + 1) % 7, i)).toBe(0);
    }
  });

  test("never uses more records than allowed when keys come and go", () => {
    const table = new AddressTable(100, 1, 0);
    for (let i = 0; i < 10_000; i++) {
      if (table.size === 100) table.remove(table.oldest);
      expect(table.add(i, 0)).toBeLessThanOrEqual(100);
    }
    expect(table.size).toBe(100);
    for (let i = 9900; i < 10_000; i++) expect(table.find(i, 0)).toBeGreaterThan(0);
  });
});
