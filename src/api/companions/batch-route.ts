/** `POST /api/companions/batch`: many companions in one request, answered one by one, as lines or as an array. */
import { Type as t } from "@sinclair/typebox";
import { batchBody } from "../../http/json-body.ts";
import type { HeaderBag } from "../../http/problem.ts";
import { type Route, route } from "../../http/route.ts";
import { linesOf, linesType } from "../../http/schemas/lines.ts";
import { type Batch, batchLimitBytes, maxLines, openBatch } from "./batch.ts";
import { newCompanionBody } from "./model.ts";
import { CompanionObject, LineProblem } from "./responses.ts";

export const batchRoute: Route = route({
  id: "createCompanions",
  method: "POST",
  path: "/api/companions/batch",
  tag: "Companions",
  summary: "Create up to 1000 companions in one request",
  access: "companions:write",
  body: batchBody(newCompanionBody, { limitBytes: batchLimitBytes, maxItems: maxLines }),
  isIdempotent: true,
  document: () => ({
    description:
      "At most 1000 companions and 8 MiB. The body is a JSON array, or has one companion per line, where blank lines are " +
      "skipped; the response has the same form. It has for each, in the same order, the companion, or its problem with " +
      "`line`: the number of its line or element, counted from 1. One that is refused does not " +
      "stop the others. Up to 250 are committed together, fewer where they are large or have much metadata, and answered " +
      "as soon as they are. With an `Idempotency-Key` the same " +
      "batch, sent again after a break, goes on where it stopped and makes nothing twice.",
    responses: {
      200: {
        description: "For each companion of the body, what came of it.",
        get content() {
          const made = t.Union([CompanionObject, LineProblem]);
          return { "application/json": t.Array(made), [linesType]: linesOf(made) };
        },
      },
    },
    errors: ["rate_limited"],
  }),
  async handle({ services, request, principal, set, writeContext }) {
    const batch = await openBatch({ services, request, principal, writeContext });
    try {
      const first = await batch.work(0);
      if (batch.isReplayed) set.headers["idempotent-replayed"] = "true";
      set.headers["content-type"] = batch.isArray ? "application/json" : linesType;
      const headers = set.headers as HeaderBag;
      // Elysia returns a Response unchanged only if nothing else was set.
      set.headers = {};
      return new Response(streamBatch(batch, first), { headers: headers as Record<string, string> });
    } catch (error) {
      batch.close();
      throw error;
    }
  },
});

/** A part is made when the client has read the one before it: none is made for a client that has left. */
function streamBatch(batch: Batch, first: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let part = 0;
  let hasLeft = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let text = first;
        try {
          if (part > 0) text = await batch.work(part);
        } catch (error) {
          text = batch.fail(part, error);
          part = batch.parts;
        }
        if (hasLeft) return;
        const isFirst = part === 0;
        const isLast = ++part >= batch.parts;
        controller.enqueue(encoder.encode(batch.isArray ? toElements(text, isFirst, isLast) : text));
        if (!isLast) return;
        batch.close();
        controller.close();
      },
      cancel() {
        hasLeft = true;
        batch.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Lines as a piece of an array. */
function toElements(lines: string, isFirst: boolean, isLast: boolean): string {
  return `${isFirst ? "[" : ",\n"}${lines.trimEnd().replaceAll("\n", ",\n")}${isLast ? "]\n" : ""}`;
}
