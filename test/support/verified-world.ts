/** A server with a companion that asks who its visitors are, and the website that vouches for them. */
import type { JWTPayload } from "jose";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { type ApiClient, type ApiResponse, apiClient } from "./api-client.ts";
import { startTestServer, type TestServer } from "./app.ts";
import { type ChatResponse, chat } from "./chat.ts";
import { createWebsiteKey, signToken, type WebsiteKey } from "./visitor-keys.ts";

export interface VerifiedWorld {
  server: TestServer;
  companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
  /** Another companion of the account. */
  addCompanion(settings?: Partial<CompanionSettings>): Promise<VerifiedWorld["companion"]>;
  /** With a key of the owner's account. */
  owner: ApiClient;
  key: WebsiteKey;
  /** A good token for the companion. */
  sign(sub: string, claims?: JWTPayload): Promise<string>;
  /** An embed route of the companion, or of another; `path` follows its token. */
  embed(
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
    of?: { embedToken: string },
  ): Promise<ApiResponse>;
  say(token: string | null, body: object): Promise<ChatResponse>;
  /** What the model last received: its instructions, then the messages. */
  lastPrompt(): { role: string; content: string }[];
}

export async function openVerifiedWorld(
  settings: Partial<CompanionSettings> = {},
  startServer: () => Promise<TestServer> = startTestServer,
): Promise<VerifiedWorld> {
  const server = await startServer();
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  const addCompanion: VerifiedWorld["addCompanion"] = (more = {}) =>
    server.createCompanion({ visitorAuth: "optional", ...settings, ...more }, account);
  const companion = await addCompanion();
  const { key: apiKey } = await server.createKey(account);
  const owner = apiClient(server.url, apiKey);
  const key = await createWebsiteKey(server.url, apiKey);
  const visitors = apiClient(server.url, null);
  const carrying = (token: string | null) => (token === null ? {} : { "x-visitor-token": token });
  return {
    server,
    companion,
    addCompanion,
    owner,
    key,
    sign: (sub, claims = {}) => signToken(key, companion.id, { sub, ...claims }),
    embed: (method, path, token, body, of = companion) =>
      visitors.call(method, `/api/embed/${of.embedToken}${path}`, body, carrying(token)),
    say: (token, body) =>
      chat(server.url, companion.embedToken, body, {
        headers: { "content-type": "application/json", ...carrying(token) },
      }),
    lastPrompt() {
      const sent = server.mockLlm.requests.at(-1)?.body as { messages: { role: string; content: string }[] };
      return sent.messages;
    },
  };
}
