/** `POST /api/webhooks/{provider}`: what voice providers deliver after a session. Without the provider's secret there is no such route. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { type BodyBudget, createBodyBudget } from "../../http/body-budget.ts";
import { clientOf } from "../../http/client.ts";
import { respondJson } from "../../http/json-response.ts";
import { admitClient, refuse } from "../../http/rate-limit.ts";
import type { TranscriptReader } from "../../voice/provider.ts";
import { keepTranscript } from "./service.ts";

const mebibyte = 1024 * 1024;
/** An hour of talk is some hundred KiB with all that the provider adds; audio is not taken. */
const bodyLimits = {
  bodyBytes: 8 * mebibyte,
  bodyMs: 30_000,
  ...{ bodies: 32, bodiesOfOne: 16 },
  ...{ bytes: 32 * mebibyte, bytesOfOne: 16 * mebibyte },
};

export function webhooksModule(services: Services) {
  const bodies = createBodyBudget(bodyLimits);
  if (services.voice.readers.length > 0) {
    services.measurements.probes.push({
      name: "companiond_webhook_body_bytes",
      help: "Held of transcripts that are arriving; bounded.",
      type: "gauge",
      read: () => bodies.heldBytes,
    });
  }

  return (app: Elysia) => {
    for (const reader of services.voice.readers) {
      app.post(
        `/api/webhooks/${reader.name}`,
        async ({ request, set }) => {
          await takeDelivery(services, bodies, reader, request);
          return respondJson(set, { received: true });
        },
        { parse: "none" },
      );
    }
    return app;
  };
}

async function takeDelivery(
  services: Services,
  bodies: BodyBudget,
  reader: TranscriptReader,
  request: Request,
): Promise<void> {
  const client = clientOf(services, request);
  const verdict = await admitClient(services.limiter, services.rules.webhook, client);
  refuse(verdict, "This address has sent too many requests.");
  // Before the body: whoever cannot sign must not make us read megabytes.
  const delivery = reader.begin(request.headers, services.clock.nowMs());
  const transcript = await bodies.read(request, client.limitSubject, { see: delivery.see, use: delivery.finish });
  if (transcript) await keepTranscript(services, transcript);
}
