/** What is removed, or is to be removed later, as rows: see `removals.ts`. */
import * as shared from "../store-shared/scripts/removals.ts";
import { createCallRemovals, removeRows } from "../store-shared/scripts/tool-calls.ts";
import { bindScripts } from "./scripts.ts";

export const { addRemoval } = bindScripts(shared);

export const callRemovals = bindScripts(createCallRemovals(removeRows));
