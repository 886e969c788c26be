/** All scripts, which every new connection loads first. */
import type { Script } from "./script.ts";
import { signInScripts } from "./sign-in-scripts.ts";
import { windowScript } from "./window-script.ts";

export const scripts: readonly Script[] = [windowScript, ...Object.values(signInScripts)];
