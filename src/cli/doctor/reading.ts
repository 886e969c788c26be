/** Checks that documents can be read, and whether the kernel confines the process that reads them. */
import { findConfinement } from "../../knowledge/reading/reader.ts";
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
  return warn(
    name,
    "They are read in a process without confinement: the kernel does not allow it.",
    "Use Linux on x64 or arm64 with seccomp, and let a container's profile allow it; or add only documents that you trust.",
  );
}
