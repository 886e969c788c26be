/** What is to be removed later, as rows: see `removals.ts`. */
import * as shared from "../shared/removals.ts";
import { bindScripts } from "./scripts.ts";

export const { addRemoval } = bindScripts(shared);
