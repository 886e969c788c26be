/** Checks that documents can be read, and whether the process that reads them is confined. */
import { findConfinement } from "../../core/knowledge/reading/reader.ts";
import { describeUnconfined } from "../warnings.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const limitMs = 10_000;

export async function examineReading(): Promise<Finding> {
  const name = "documents";
  try {
    if (await findConfinement(AbortSignal.timeout(limitMs))) {
      return ok(name, "They are read in a process without network and files.");
    }
  } catch {
    return fail(
      name,
      "They cannot be read: the process for it does not start.",
      "Check the limits on processes and memory of this user.",
    );
  }
  const { why, advice } = describeUnconfined();
  return warn(name, `They are read in a process without confinement: ${why}.`, advice);
}
