/** Whether the built-in demo may stand in for a language model where the server listens: nobody should take it for one. */
import type { Config } from "../config/config.ts";
import { isLoopbackAddress, isLoopbackHost } from "../lib/loopback.ts";

type Settings = Pick<Config, "isDemo" | "llm" | "publicUrl" | "server">;

export const modelSettings = "OPENAI_API_KEY, OPENAI_BASE_URL or COMPANIOND_PROVIDERS_FILE";

/**
 * `refused`: others than this machine would get it, and nobody has asked for it. `behind_proxy`: only this machine
 * reaches it, but passes on requests of others. Null: there is a model, or the demo is wanted or seen here alone.
 */
export function judgeDemo({ isDemo, llm, publicUrl, server }: Settings): "refused" | "behind_proxy" | null {
  const hasModel = llm.apiKey !== null || llm.baseUrl !== null || llm.providersFile !== null;
  if (hasModel || isDemo) return null;
  if (server.acme !== null || !isLoopbackAddress(server.host)) return "refused";
  const isPublic = publicUrl !== null && !isLoopbackHost(new URL(publicUrl).host);
  return isPublic || server.trustProxy > 0 ? "behind_proxy" : null;
}

export function describeRefusal({ server: { acme, host } }: Pick<Settings, "server">): string {
  const place = acme?.domains[0] ?? host;
  return (
    `no language model is configured, and the built-in demo would answer everybody who reaches ${place}. ` +
    `Set ${modelSettings}; or add --demo if that is what you want.`
  );
}
