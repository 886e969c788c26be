/** Chooses the wire: which API a provider is asked by, before anything is known of its models. */
import type { JsonObject } from "../../domain/companion.ts";
import type { LlmApi } from "../../domain/llm-api.ts";
import { openAiUrl } from "./address.ts";
import { listChatOnlyNames } from "./responses-wire.ts";
import type { Wire } from "./wire.ts";

export interface ChosenWire {
  readonly name: Wire["name"];
  /** Whether a model may turn out to be served by the other one. */
  readonly mayChange: boolean;
  /** The operator's own members for which the choice is chats. */
  readonly because: readonly string[];
}

export function chooseWire(api: LlmApi, baseUrl: string | null, extra: JsonObject): ChosenWire {
  if (api !== "auto") return { name: api, mayChange: false, because: [] };
  const because = listChatOnlyNames(extra);
  if (because.length > 0) return { name: "chat", mayChange: false, because: isOpenAi(baseUrl) ? because : [] };
  return { name: isOpenAi(baseUrl) ? "responses" : "chat", mayChange: true, because };
}

/** OpenAI itself, its regions, and the first version of Azure's API that is the same. */
export function isOpenAi(baseUrl: string | null): boolean {
  const { hostname, pathname } = new URL(baseUrl ?? openAiUrl);
  if (hostname === "api.openai.com" || hostname.endsWith(".api.openai.com")) return true;
  const isAzure = hostname.endsWith(".openai.azure.com") || hostname.endsWith(".services.ai.azure.com");
  return isAzure && /^\/openai\/v1\/?$/.test(pathname);
}
