/** Preloaded into a server by `held-loop.ts`: notes each turn of its event loop that takes long, in processor time. */
import { appendFileSync } from "node:fs";
import { threadCpuMs } from "../bench/knowledge/event-loop.ts";

const notedMs = 2;
const prefix = process.env["FAULTS_TURNS"];
let lastMs = threadCpuMs();

function look(): void {
  const nowMs = threadCpuMs();
  if (nowMs - lastMs > notedMs) appendFileSync(`${prefix}.${process.pid}`, `${nowMs - lastMs}\n`);
  // Without what the note took.
  lastMs = threadCpuMs();
  setTimeout(look, 0);
}

if (prefix !== undefined) setTimeout(look, 0);
