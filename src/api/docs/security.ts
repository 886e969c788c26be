/** Who may call what, as OpenAPI security schemes. */
import { type Scope, scopes } from "../../domain/account.ts";
import { type Access, isEmbedAccess } from "../../http/api-description.ts";
import type { JsonSchema } from "./schema-text.ts";

const cookie = (name: string, where: string): JsonSchema => ({
  type: "apiKey",
  in: "cookie",
  name,
  description: `The dashboard's session ${where}: from \`POST /api/session\`. It has every scope, but for members with fewer rights.`,
});

export const securitySchemes: Record<string, JsonSchema> = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "cmp_live_<32 characters>",
    description:
      "An API key, for servers only: `Authorization: Bearer cmp_live_…`. Created in the dashboard, shown once. The scopes " +
      `are ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`,
  },
  sessionCookie: cookie("__Host-companiond_session", "with TLS"),
  localSessionCookie: cookie("companiond_session", "on plain HTTP at a loopback host"),
};

/** Alternatives, of which one suffices. Embed tokens are part of the path, for which OpenAPI has no security scheme. */
export function securityOf(access: Access): Record<string, string[]>[] {
  if (access === "public" || isEmbedAccess(access)) return [];
  const cookies = [{ sessionCookie: [] }, { localSessionCookie: [] }];
  if (access === "principal") return [{ apiKey: [] }, ...cookies];
  if (access === "chat:write") return [{ apiKey: [] }];
  return requiredScope(access) === null ? cookies : [{ apiKey: [] }, ...cookies];
}

/** What an API key needs; null for calls that none can make, or none is asked for. */
export function requiredScope(access: Access): Scope | null {
  return scopes.find((scope) => scope === access) ?? null;
}

export function accessSentence(access: Access): string {
  const scope = requiredScope(access);
  if (scope === "chat:write") return "For API keys with the scope `chat:write`.";
  if (scope !== null) return `For API keys with the scope \`${scope}\`, and for the dashboard.`;
  return {
    public: "Open to everyone.",
    embed: "Open to anyone who has the embed token.",
    visitor: "For verified visitors who have the embed token.",
    principal: "For every API key, whatever its scopes, and for the dashboard.",
    session: "For the dashboard alone.",
    owner: "For the dashboard of the account's owners alone.",
    operator: "For the dashboard of operators alone.",
  }[access as Exclude<Access, Scope>];
}
