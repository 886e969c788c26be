/** Waits out the moment in which a connection to a provider is left alone before its next request. */
import { defaults } from "../../src/llm/http/client.ts";

export function rested(): Promise<void> {
  return Bun.sleep(defaults.restMs + 10);
}
