/** As whom the threads of a process work, from Linux. */
import { readdirSync, readFileSync } from "node:fs";

/** User, group and further groups, each distinct combination of any thread once: `1,1,1,1 1,1,1,1 1`. */
export function rightsOf(pid: number): string[] {
  const all = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
    const read = (name: string) => new RegExp(`^${name}:\\s+(.*?)\\s*$`, "m").exec(status)?.[1]?.split(/\s+/).join();
    return `${read("Uid")} ${read("Gid")} ${read("Groups")}`;
  });
  return [...new Set(all)];
}
