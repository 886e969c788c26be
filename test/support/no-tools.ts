/** A toolbox that no one may open: of turns whose companions have no tools. */
import { AttemptsByHand } from "../../src/core/attempts-by-hand.ts";
import type { Toolbox } from "../../src/core/tools/toolbox.ts";

const refuse = () => Promise.reject(new Error("a companion without tools opened the toolbox"));
const done = async () => {};

export const noTools: Toolbox = {
  ...{ open: refuse, find: refuse, list: refuse },
  trials: new AttemptsByHand(),
  ...{ forget() {}, watch() {}, whenIdle: done, close: done },
};
