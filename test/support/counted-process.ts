/** Loaded before a server whose heap is counted: it prints how many objects live in it for each SIGUSR2. */
import { fullGC, heapStats } from "bun:jsc";

process.on("SIGUSR2", () => {
  fullGC();
  fullGC();
  console.error(`${heapStats().objectCount} objects`);
});
