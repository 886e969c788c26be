/** Asks a provider for its models, and when each is shut down: OpenAI has published that since 2026, others may. */
import { isJsonObject } from "../../domain/json.ts";
import type { ShutdownDates } from "../../domain/model-dates.ts";
import { openAiUrl } from "./address.ts";

export interface ListedProvider {
  readonly apiKey: string | null;
  /** Up to and including `/v1`; null means OpenAI itself. */
  readonly baseUrl: string | null;
  /** Added to every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** OpenRouter's list has 1.5 MB. */
const maxBytes = 8 * 1024 * 1024;

/** Null where the provider gives no such list, for any reason; rejects with the signal's reason alone. */
export async function listShutdownDates(
  { apiKey, baseUrl, headers }: ListedProvider,
  signal: AbortSignal,
): Promise<ShutdownDates | null> {
  const url = `${(baseUrl ?? openAiUrl).replace(/\/$/, "")}/models`;
  const authorization = apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` };
  try {
    const response = await fetch(url, {
      headers: { "User-Agent": "companiond", ...authorization, ...headers },
      // The key must not go to an address that the operator did not configure.
      redirect: "manual",
      signal,
    });
    const text = response.ok ? await readText(response) : null;
    if (!response.ok) await response.body?.cancel();
    return text === null ? null : readDates(JSON.parse(text));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

async function readText(response: Response): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function readDates(list: unknown): ShutdownDates | null {
  if (!isJsonObject(list) || !Array.isArray(list.data)) return null;
  const models = list.data.filter(isJsonObject);
  const byModel = new Map<string, string>();
  for (const { id, shutdown_date: date } of models) {
    if (typeof id === "string" && typeof date === "string" && /^\d{4}-\d{2}-\d{2}$/.test(date)) byModel.set(id, date);
  }
  return { knowsDates: models.some((model) => "shutdown_date" in model), byModel };
}
