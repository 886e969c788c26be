/** Who may call what, in the words of the API document. */
import { scopes } from "../../domain/account.ts";
import type { Access } from "../../http/api-description.ts";
import type { JsonSchema } from "./schema-text.ts";

const cookie = (name: string, where: string): JsonSchema => ({
  type: "apiKey",
  in: "cookie",
  name,
  description: `The dashboard's session ${where}: from \`POST /api/session\`. It holds every scope.`,
});

export const securitySchemes: Record<string, JsonSchema> = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "cmp_live_<32 characters>",
    description:
      "An API key, for servers only: `Authorization: Bearer cmp_live_…`. Made in the dashboard, shown once. The scopes " +
      `are ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`,
  },
  sessionCookie: cookie("__Host-companiond_session", "with TLS"),
  localSessionCookie: cookie("companiond_session", "on plain HTTP at a loopback host"),
};

/** Alternatives: any one of them is enough. Embed tokens are part of the path, which is no security scheme of OpenAPI. */
export function securityOf(access: Access): Record<string, string[]>[] {
  if (access === "public" || access === "embed") return [];
  const cookies = [{ sessionCookie: [] }, { localSessionCookie: [] }];
  return access === "session" || access === "operator" ? cookies : [{ apiKey: [access] }, ...cookies];
}
