/** A server over HTTP, as a target of files. */
import type { ApplyResult } from "../../api/companions/apply/responses.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import { CommandFailure } from "../command.ts";
import type { RemoteServer } from "../remote-server.ts";
import type { SetTarget } from "./target.ts";

export function openHttpTarget(server: RemoteServer, note: string | null): SetTarget {
  const headers = note === null ? {} : { "x-change-note": encodeURIComponent(note) };
  const listOf = async (id: string, what: "tools" | "sources") => {
    return (await server.list(`/api/companions/${id}/${what}`)).filter(isJsonObject);
  };

  return {
    async apply(body) {
      return (await server.call("POST", "/api/apply", { body })) as unknown as ApplyResult;
    },
    async sendUpload({ companionId, slug, title, name, bytes }) {
      const path = `/api/companions/${companionId}/sources`;
      const known = (await listOf(companionId, "sources")).find((source) => source["slug"] === slug);
      const form = new FormData();
      form.append("file", new File([bytes], name));
      form.append("slug", slug);
      if (title !== null) form.append("title", title);
      if (known === undefined) await server.call("POST", path, { body: form, headers });
      else await server.call("PUT", `${path}/${textOf(known["id"])}`, { body: form, headers });
    },
    finish: async () => [],
    async listNames() {
      const rows = await server.list("/api/companions", { fields: "name,slug" });
      return rows.filter(isJsonObject).map(({ id, name, slug }) => {
        return { id: textOf(id), name: textOf(name), slug: typeof slug === "string" ? slug : null };
      });
    },
    async find(slug) {
      const [companion] = await server.list("/api/companions", { slug });
      if (!isJsonObject(companion)) return null;
      const id = textOf(companion["id"]);
      return { companion, tools: await listOf(id, "tools"), sources: await listOf(id, "sources") };
    },
  };
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  throw new CommandFailure("the server does not answer as companiond does.");
}
