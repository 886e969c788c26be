/** A server over HTTP, as a target of files. */
import type { ApplyResult } from "../../api/companions/apply/responses.ts";
import { AppError, type FieldError } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { ApiRefusal, type ApiServer } from "../api-server.ts";
import { CommandFailure } from "../command.ts";
import type { SetTarget } from "./target.ts";

/** A set may take a while; a server that has not answered by then will not. */
const timeoutMs = 5 * 60_000;
const pageSize = "100";

export function openHttpTarget(server: ApiServer, note: string | null): SetTarget {
  const headers = note === null ? {} : { "x-change-note": encodeURIComponent(note) };

  async function list(path: string, query: Readonly<Record<string, string>> = {}): Promise<JsonObject[]> {
    const items: JsonObject[] = [];
    for (let cursor: string | null = null; ; ) {
      const part: Record<string, string> = cursor === null ? {} : { cursor };
      const { text } = await server.call("GET", path, { query: { ...query, ...part, limit: pageSize } });
      const page: JsonValue = parse(text);
      if (!isJsonObject(page) || !Array.isArray(page["data"])) throw notCompaniond(server);
      items.push(...page["data"].filter(isJsonObject));
      const next: JsonValue | undefined = page["next_cursor"];
      if (typeof next !== "string") return items;
      cursor = next;
    }
  }

  function parse(text: string): JsonValue {
    try {
      return JSON.parse(text);
    } catch {
      throw notCompaniond(server);
    }
  }

  return {
    async apply(body) {
      const { text } = await server.call("POST", "/api/apply", { body, timeoutMs }).catch(throwFields);
      return parse(text) as unknown as ApplyResult;
    },
    async sendUpload({ companionId, slug, title, name, bytes }) {
      const path = `/api/companions/${companionId}/sources`;
      const known = (await list(path)).find((source) => source["slug"] === slug);
      const form = new FormData();
      form.append("file", new File([bytes], name));
      form.append("slug", slug);
      if (title !== null) form.append("title", title);
      const [method, at] = known === undefined ? ["POST", path] : ["PUT", `${path}/${String(known["id"])}`];
      await server.call(method, at, { body: form, headers, timeoutMs });
    },
    finish: async () => [],
    async listNames() {
      const rows = await list("/api/companions", { fields: "name,slug" });
      return rows.map(({ id, name, slug }) => {
        return { id: String(id), name: String(name), slug: typeof slug === "string" ? slug : null };
      });
    },
    async find(slug) {
      const [companion] = await list("/api/companions", { slug });
      if (companion === undefined) return null;
      const path = `/api/companions/${String(companion["id"])}`;
      const facts = parse((await server.call("GET", `${path}/set`)).text);
      const set = isJsonObject(facts) && typeof facts["set"] === "string" ? facts["set"] : null;
      return { companion, tools: await list(`${path}/tools`), sources: await list(`${path}/sources`), set };
    },
  };
}

/** Fields at fault as the server's own code would report them. */
function throwFields(error: unknown): never {
  if (error instanceof ApiRefusal && error.code === "invalid_request" && isJsonObject(error.problem)) {
    const { errors, detail } = error.problem;
    if (Array.isArray(errors)) {
      throw new AppError("invalid_request", String(detail), { errors: errors as unknown as FieldError[] });
    }
  }
  throw error;
}

function notCompaniond({ url }: ApiServer): CommandFailure {
  return new CommandFailure(`${url} does not answer as companiond does.`);
}
