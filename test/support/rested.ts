/** Waits as long as a provider connection is left idle before its next request. */
import { defaults } from "../../src/lib/http/client.ts";

export function rested(): Promise<void> {
  return Bun.sleep(defaults.restMs + 10);
}
