import { expect, test } from "bun:test";
import { Stop } from "../../src/lib/stop-signal.ts";

test("each listener is called once, and never again", () => {
  const stop = new Stop();
  const told: string[] = [];
  const listener = (name: string) => ({ handleEvent: () => void told.push(`${name}: ${stop.reason}`) });
  const [first, second, late] = [listener("first"), listener("second"), listener("late")];
  stop.addEventListener("abort", first);
  stop.addEventListener("abort", second);
  stop.addEventListener("abort", late);
  stop.removeEventListener("abort", second);
  stop.removeEventListener("abort", second);
  expect(stop.aborted).toBe(false);
  stop.abort("gone");
  stop.abort("once more");
  stop.addEventListener("abort", second);
  expect(told).toEqual(["first: gone", "late: gone"]);
  expect([stop.aborted, stop.reason]).toEqual([true, "gone"]);
});

test("a listener that another one removes during the calls is not called any more", () => {
  const stop = new Stop();
  const told: string[] = [];
  const second = { handleEvent: () => void told.push("second") };
  const first = {
    handleEvent() {
      told.push("first");
      stop.removeEventListener("abort", second);
    },
  };
  stop.addEventListener("abort", first);
  stop.addEventListener("abort", second);
  stop.abort("gone");
  expect(told).toEqual(["first"]);
});
