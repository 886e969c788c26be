/** `POST /api/webhooks/{provider}`: what voice providers deliver after a session. Without the provider's secret there is no such route. */
import type { Elysia } from "elysia";
import { clientOf } from "../../http/client.ts";
import { answerJson } from "../../http/json-answer.ts";
import { readBytes } from "../../http/json-body.ts";
import { admitClient, refuse } from "../../http/rate-limit.ts";
import type { Services } from "../../http/services.ts";
import type { TranscriptReader } from "../../voice/provider.ts";
import { keepTranscript } from "./service.ts";

/** An hour of talk is some hundred KiB with all that the provider adds; audio is not taken. */
const webhookBodyLimitBytes = 8 * 1024 * 1024;

export function webhooksModule(services: Services) {
  return (app: Elysia) => {
    for (const reader of services.voice.readers) {
      app.post(
        `/api/webhooks/${reader.name}`,
        async ({ request, set }) => {
          await takeDelivery(services, reader, request);
          return answerJson(set, { received: true });
        },
        { parse: "none" },
      );
    }
    return app;
  };
}

async function takeDelivery(services: Services, reader: TranscriptReader, request: Request): Promise<void> {
  const client = clientOf(services, request);
  const verdict = await admitClient(services.limiter, services.rules.webhook, client);
  refuse(verdict, "This address has sent too many requests.");
  // Before the body: whoever cannot sign must not make us read megabytes.
  reader.checkHeaders(request.headers, services.clock.nowMs());
  const body = await readBytes(request, webhookBodyLimitBytes);
  const transcript = reader.read(request.headers, body, services.clock.nowMs());
  if (transcript) await keepTranscript(services, transcript);
}
