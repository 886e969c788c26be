/** What libraries would bring into the executable, but nothing of ours runs. */
import type { BunPlugin } from "bun";

/**
 * acme-client makes its requests with axios, and ours go through `src/engines/acme/calls.ts`. From sources, the file
 * is loaded and not used.
 */
export const leaveOutUnused: BunPlugin = {
  name: "leave out what is not used",
  setup(build) {
    build.onLoad({ filter: /\/acme-client\/src\/axios\.js$/ }, () => ({
      contents: "module.exports = {};",
      loader: "js",
    }));
  },
};
