/** `POST /api/companions/batch`: many companions at once, answered line by line. */
import { Type as t } from "@sinclair/typebox";
import { linesResponse } from "../../http/api-description.ts";
import { linesBody } from "../../http/json-body.ts";
import type { HeaderBag } from "../../http/problem.ts";
import { type Route, route } from "../../http/route.ts";
import { type Batch, batchLimitBytes, openBatch } from "./batch.ts";
import { newCompanionBody } from "./model.ts";
import { CompanionObject, LineProblem } from "./responses.ts";

export const batchRoute: Route = route({
  id: "createCompanions",
  method: "POST",
  path: "/api/companions/batch",
  tag: "Companions",
  summary: "Create up to 1000 companions at once",
  access: "companions:write",
  body: linesBody(newCompanionBody, batchLimitBytes),
  isIdempotent: true,
  document: () => ({
    description:
      "The body has one companion per line, at most 1000 lines and 8 MiB; blank lines are skipped. The response has a line for " +
      "each, in the same order: the companion, or its problem with `line`, counted from 1. A line that is refused does not " +
      "stop the others. Up to 250 lines are committed together, fewer where they are large or have much metadata, and answered " +
      "as soon as they are. With an `Idempotency-Key` the same " +
      "batch, sent again after a break, goes on where it stopped and makes nothing twice.",
    responses: {
      200: linesResponse("A line for each line of the body.", t.Union([CompanionObject, LineProblem])),
    },
    errors: ["rate_limited"],
  }),
  async handle({ services, request, principal, set, writeContext }) {
    const batch = await openBatch({ services, request, principal, writeContext });
    try {
      const first = await batch.work(0);
      if (batch.isReplayed) set.headers["idempotent-replayed"] = "true";
      set.headers["content-type"] = "application/x-ndjson";
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

/** A part is made when the one before it was taken: whoever leaves gets no more made. */
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
        controller.enqueue(encoder.encode(text));
        if (++part < batch.parts) return;
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
