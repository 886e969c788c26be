/** When memory is released: after a busy period, never during one, and only if it is worth it. */
import { expect, test } from "bun:test";
import { startIdleMemory, systemGauges, watchIdleMemory } from "../../src/server/jobs/idle-memory.ts";

const mebibyte = 1024 * 1024;

/** A process whose figures the test controls. */
function createProcess() {
  const process = { ms: 0, cpu: 0, resident: 50, collections: 0 };
  const look = watchIdleMemory({
    nowMs: () => process.ms,
    cpuMs: () => process.cpu,
    residentBytes: () => process.resident * mebibyte,
    collect: async () => {
      process.collections++;
    },
  });
  /** Lets seconds pass, during which the process uses a share of one core. */
  function pass(seconds: number, share: number): void {
    for (let second = 0; second < seconds; second++) {
      process.ms += 1000;
      process.cpu += 1000 * share;
      look();
    }
  }
  return { process, pass };
}

test("garbage of a busy period is collected once it is over, and only once", () => {
  const { process, pass } = createProcess();
  pass(3, 0.001);
  process.resident = 120;
  pass(60, 0.5);
  expect(process.collections).toBe(0);
  pass(1, 0.001);
  // One quiet second may be a pause between two visitors.
  expect(process.collections).toBe(0);
  pass(1, 0.001);
  expect(process.collections).toBe(1);
  // The allocator returns memory gradually.
  process.resident = 110;
  pass(1, 0.001);
  process.resident = 80;
  pass(600, 0.001);
  expect(process.collections).toBe(1);
});

test("a server that was busy from its start on, or again right after a collection, has it collected all the same", () => {
  const { process, pass } = createProcess();
  process.resident = 180;
  pass(60, 0.5);
  pass(2, 0.001);
  expect(process.collections).toBe(1);
  // The collection itself takes more CPU than a quiet second.
  process.resident = 200;
  pass(60, 0.5);
  pass(2, 0.001);
  expect(process.collections).toBe(2);
});

test("a busy server is not interrupted, however much it holds", () => {
  const { process, pass } = createProcess();
  pass(3, 0.001);
  for (let minute = 0; minute < 60; minute++) {
    process.resident += 5;
    pass(59, 0.3);
    pass(1, 0.001);
  }
  expect(process.collections).toBe(0);
});

test("a quiet server collects when it has grown by a worthwhile amount, not before", () => {
  const { process, pass } = createProcess();
  pass(10, 0.001);
  process.resident += 7.9;
  pass(10, 0.015);
  expect(process.collections).toBe(0);
  process.resident += 0.1;
  pass(10, 0.015);
  expect(process.collections).toBe(1);
  // What a collection does not free, the server needs.
  pass(600, 0.001);
  expect(process.collections).toBe(1);
});

test("the real collection frees unreferenced memory", async () => {
  // Many, as the collector takes whatever lies on the stack for a reference.
  const references = Array.from({ length: 1000 }, (_, index) => new WeakRef({ index }));
  await Bun.sleep(0);
  await systemGauges.collect();
  expect(references.filter((reference) => reference.deref() !== undefined).length).toBeLessThan(100);
});

test("stops", async () => {
  let looks = 0;
  const thrice = Promise.withResolvers<void>();
  const cpuMs = () => {
    if (++looks === 3) thrice.resolve();
    return 0;
  };
  const jobs = startIdleMemory({ ...systemGauges, cpuMs }, 1);
  await thrice.promise;
  await jobs.stop();
  const looksAtStop = looks;
  await Bun.sleep(20);
  expect(looks).toBe(looksAtStop);
});
