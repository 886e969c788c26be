/** What knowledge is made of, recorded and replayed: vectors, pages of sites, and what servers of tools offer. */
import type { EmbeddingProvider } from "../../../contracts/llm/embeddings.ts";
import type { McpTools } from "../../../contracts/tool-servers.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { FetchingFailure } from "../../knowledge/fetching/failure.ts";
import type { Fetched, Fetcher } from "../../knowledge/fetching/fetcher.ts";
import type { SitePages } from "../../knowledge/fetching/site-pages.ts";
import type { Recordings } from "./recordings.ts";

/** Of one text: how many come in one call is for each provider to decide. */
interface RecordedEmbedding extends JsonObject {
  /** Little-endian 32-bit floats, in Base64. */
  vector: string;
  /** Its share of what the call took. */
  tokens: number;
}

/** `provider` is asked while recording; null to replay. */
export function createRecordedEmbeddings(
  model: string,
  provider: EmbeddingProvider | null,
  recordings: Recordings,
): EmbeddingProvider {
  const find = (text: string, ask: () => Promise<RecordedEmbedding | null>) =>
    recordings.answer<RecordedEmbedding>({ kind: "embedding", model, text }, ask);

  return {
    name: provider?.name ?? "recorded",
    model,
    get maxTexts() {
      return provider?.maxTexts ?? 64;
    },
    async embed(texts, signal, calls) {
      if (provider !== null) {
        const asked = provider.embed(texts, signal, calls);
        for (const [at, text] of texts.entries()) {
          await find(text, async () => {
            const { vectors, tokens } = await asked;
            return {
              vector: encodeVector(vectors[at] ?? new Float32Array()),
              tokens: Math.ceil(tokens / texts.length),
            };
          });
        }
        return await asked;
      }
      const found: RecordedEmbedding[] = [];
      for (const text of texts) {
        const one = await find(text, async () => null);
        if (one !== null) found.push(one);
      }
      return {
        vectors: found.map(({ vector }) => decodeVector(vector)),
        tokens: found.reduce((sum, { tokens }) => sum + tokens, 0),
      };
    },
    close: () => provider?.close(),
  };
}

function encodeVector(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}

function decodeVector(text: string): Float32Array {
  return new Float32Array(new Uint8Array(Buffer.from(text, "base64")).buffer);
}

interface RecordedPage extends JsonObject {
  final_url: string;
  content_type: string | null;
  charset: string | null;
  /** As it is where it is UTF-8, else in Base64. */
  body: { text: string } | { base64: string };
}

interface RecordedFault extends JsonObject {
  /** For the owner. */
  failure: string;
}

interface RecordedSite extends JsonObject {
  origin: string;
  urls: string[];
  is_cut: boolean;
  disallowed: number;
}

/** `fetcher` is asked while recording; null to replay. */
export function createRecordedFetcher(fetcher: Fetcher | null, recordings: Recordings): Fetcher {
  async function answer<Answer extends JsonObject>(
    request: { kind: "page" | "site"; url: string },
    ask: (asked: Fetcher) => Promise<Answer>,
  ): Promise<Answer> {
    let passing: unknown = null;
    const found = await recordings.answer<Answer | RecordedFault>(request, async () => {
      if (fetcher === null) return null;
      try {
        return await ask(fetcher);
      } catch (error) {
        if (error instanceof FetchingFailure && !error.isTransient) return { failure: error.message };
        passing = error;
        return null;
      }
    });
    if (found === null) throw passing;
    if (typeof found["failure"] === "string") throw new FetchingFailure(found["failure"], false);
    return found as Answer;
  }

  return {
    async fetch(url, { signal, obeysRobots = false, onlyOrigin }) {
      // Nothing is known of it from an earlier time: the whole page is what is recorded.
      const conditions = { signal, obeysRobots, ...(onlyOrigin === undefined ? {} : { onlyOrigin }) };
      const page = await answer<RecordedPage>({ kind: "page", url }, async (asked) =>
        toRecordedPage(await asked.fetch(url, conditions)),
      );
      return toFetched(page);
    },
    async listPages(url, signal) {
      const site = await answer<RecordedSite>({ kind: "site", url }, async (asked) =>
        toRecordedSite(await asked.listPages(url, signal)),
      );
      const { origin, urls, is_cut: isCut, disallowed } = site;
      return { origin, urls, isCut, disallowed };
    },
  };
}

function toRecordedSite({ origin, urls, isCut, disallowed }: SitePages): RecordedSite {
  return { origin, urls: [...urls], is_cut: isCut, disallowed };
}

function toRecordedPage(fetched: Fetched): RecordedPage {
  if (fetched.status === "unchanged") throw new Error("A page is unchanged that was asked for without conditions.");
  const { bytes, contentType, charset, finalUrl } = fetched;
  return { final_url: finalUrl, content_type: contentType, charset, body: toRecordedBody(bytes) };
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function toRecordedBody(bytes: Uint8Array): RecordedPage["body"] {
  try {
    return { text: strictUtf8.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}

function toFetched({ final_url: finalUrl, content_type: contentType, charset, body }: RecordedPage): Fetched {
  const bytes =
    "text" in body ? new TextEncoder().encode(body.text) : new Uint8Array(Buffer.from(body.base64, "base64"));
  return { status: "fetched", bytes, contentType, charset, finalUrl, etag: null, lastModified: null };
}

interface RecordedTools extends JsonObject {
  tools: { name: string; description: string; parameters: JsonObject }[];
}

/** A visitor waits less: which tools are recorded must not depend on how busy a server is. */
const maxListMs = 60_000;

/** Lists alone: no eval calls a tool. `servers` is asked while recording; null to replay. */
export function createRecordedMcpTools(servers: McpTools | null, recordings: Recordings): McpTools {
  return {
    async list(server, signal) {
      let reason = "It is not recorded what the server offers.";
      const listed = await recordings
        .answer<RecordedTools>({ kind: "tools", url: server.url }, async () => {
          const listing = await servers?.list({ ...server, timeoutMs: maxListMs }, signal);
          if (listing?.outcome === "listed") {
            return {
              tools: listing.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
            };
          }
          reason = listing?.reason ?? reason;
          throw new Error(reason);
        })
        .catch(() => null);
      return listed === null ? { outcome: "failed", reason } : { outcome: "listed", tools: listed.tools };
    },
    async call() {
      const sentence = "No tool is called in an eval.";
      return { outcome: "failed", sentence, reason: sentence };
    },
    forget: (toolId) => servers?.forget(toolId),
    close: () => servers?.close(),
  };
}
