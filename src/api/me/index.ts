/** `GET /api/me`: who the caller is, and within which limits. */
import type { Services } from "../../core/dependencies.ts";
import type { Principal } from "../../domain/account.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { unauthorized } from "../../http/principal-guard.ts";
import { type Route, route } from "../../http/route.ts";
import { toNullableRfc3339 } from "../../lib/clock.ts";
import { type Me, MeObject } from "./responses.ts";

export const meRoutes: readonly Route[] = [
  route({
    id: "getMe",
    method: "GET",
    path: "/api/me",
    tag: "API keys",
    summary: "Read what the calling key is and may do",
    access: "principal",
    document: () => ({
      description: "The simplest call to check a key with.",
      responses: { 200: jsonResponse("The caller.", MeObject) },
    }),
    async handle({ services, principal }): Promise<Me> {
      const { scopes, account } = principal;
      const { plan } = account;
      return {
        key: await readKey(services, principal),
        scopes: [...scopes],
        account: { id: account.id, plan },
        plan,
        limits: toWireLimits(services, principal),
        spending_stopped: (await services.store.spending.findStop(account.id)) !== null,
      };
    },
  }),
];

async function readKey({ store }: Services, { keyId, account }: Principal): Promise<Me["key"]> {
  if (keyId === null) return null;
  const key = (await store.apiKeys.list(account.id)).find(({ id }) => id === keyId);
  // Revoked since the guard checked it.
  if (key === undefined) throw unauthorized();
  const { id, name, start, scopes, expiresAt } = key;
  return { id, name, start, scopes: [...scopes], expires_at: toNullableRfc3339(expiresAt) };
}

function toWireLimits({ settings, rules }: Services, { keyId, account: { plan } }: Principal): Me["limits"] {
  const { companions, keys, tokensPerCompanion, bytes } = settings.holdings[plan];
  const isKey = keyId !== null;
  return {
    requests_per_minute: isKey ? rules.key.limit : rules.session.limit,
    chats_per_minute: isKey ? rules.chat.limit : null,
    visitor_messages_per_minute: isKey ? rules.visitor.limit : null,
    daily_messages: settings.dailyMessages[plan],
    daily_voice_sessions: settings.dailyVoiceSessions[plan],
    max_output_tokens: settings.llm.maxOutputTokens,
    companions,
    api_keys: keys,
    embed_tokens: tokensPerCompanion,
    bytes,
  };
}
