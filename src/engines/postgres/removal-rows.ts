/** What is to be removed later, as rows: see `removals.ts`. */
import * as shared from "../store-shared/scripts/removals.ts";
import { bindScripts } from "./scripts.ts";

export const { addRemoval } = bindScripts(shared);
