/** A copy in a process that can be killed: `bun copy-process.ts <options as JSON>` prints a line for each page. */
import { writeSync } from "node:fs";
import { copyStore } from "../../src/engines/store-copy/copy.ts";

const [, , options = "{}"] = process.argv;
await copyStore({ ...JSON.parse(options), observer: { onRows: (rows) => void writeSync(1, `${rows}\n`) } });
writeSync(1, "done\n");
process.exit(0);
