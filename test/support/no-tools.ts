/** A toolbox that nobody may open: of turns whose companions have no tools. */
import type { Toolbox } from "../../src/core/tools/toolbox.ts";

const refuse = () => Promise.reject(new Error("a companion without tools opened the toolbox"));

export const noTools: Toolbox = { open: refuse, find: refuse, list: refuse, forget() {}, close: async () => {} };
