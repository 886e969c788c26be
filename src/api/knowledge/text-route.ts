/** A text source as its owner wrote it, to be edited or taken out again. */
import type { KeptText, KnowledgeStore } from "../../contracts/store/store.ts";
import { invalidFields, missing } from "../../domain/errors.ts";

import { type Route, route } from "../../http/route.ts";
import { addHeaders } from "../../http/stream-response.ts";
import { getSource } from "./service.ts";

export const textRoute: Route = route({
  id: "readSourceText",
  method: "GET",
  path: "/api/companions/{id}/sources/{source_id}/text",
  tag: "Knowledge",
  summary: "Read a text as it was written",
  access: "knowledge:read",
  document: () => ({
    description:
      "Byte for byte what was sent last, also while that is still to be read, or could not be. Other sources than " +
      "texts are not kept: they are 400.",
    responses: {
      200: { description: "The text.", content: { "text/plain": null }, headers: ["Content-Disposition"] },
    },
  }),
  async handle({ services, principal, params, set }) {
    const { store } = services;
    const source = await getSource(services, principal.account.id, params.id, params.sourceId);
    if (source.type !== "text") {
      throw invalidFields([{ param: "source_id", detail: "Only texts are kept as they were written." }]);
    }
    const kept = await store.knowledge.findText(principal.account.id, source.companionId, source.id);
    const first = kept === null ? null : await store.knowledge.readUpload(kept.uploadId, 0);
    // Deleted, or replaced, a moment ago.
    if (kept === null || first === null) throw missing("source");
    const response = new Response(streamText(store.knowledge, kept, first), {
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": toDisposition(source.title),
        "cache-control": "no-store",
      },
    });
    return addHeaders(response, set);
  },
});

/** Reads no faster than the client does. What is replaced or deleted meanwhile breaks off: half a text is no text. */
function streamText(store: Pick<KnowledgeStore, "readUpload">, { uploadId, bytes }: KeptText, first: Uint8Array) {
  let piece = 0;
  let left = bytes;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = piece === 0 ? first : await store.readUpload(uploadId, piece);
        piece++;
        if (next === null) return controller.error(new Error("the text was replaced while it was read"));
        controller.enqueue(next);
        left -= next.byteLength;
        if (left <= 0) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** RFC 6266: in full, and for those that cannot read that. */
function toDisposition(title: string): string {
  const name = title.replace(/[\p{Cc}"*/:<>?\\|]/gu, "_");
  const encoded = encodeURIComponent(name).replace(/['()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${name.replace(/[^ -~]|%/g, "_")}.md"; filename*=UTF-8''${encoded}.md`;
}
