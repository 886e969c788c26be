/** `POST /api/voice/{provider}/webhook`: what voice providers deliver after a session. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { missing } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { admitClient, refuse } from "../../http/rate-limit.ts";
import { type Route, route } from "../../http/route.ts";
import { keepTranscript } from "./service.ts";

const findReader = ({ voice }: Services) => voice.readers.find(({ name }) => name === "elevenlabs");

const takeDelivery = (id: string, path: string, summary: string) =>
  route({
    id,
    method: "POST",
    path,
    tag: "Service",
    summary,
    access: "public",
    isOffered: (services) => findReader(services) !== undefined,
    document: () => ({
      description: "Signed by the provider, in the provider's own format. Exists only if the server knows the secret.",
      responses: { 200: jsonResponse("Taken.", t.Object({ received: t.Literal(true) }, { $id: "WebhookTaken" })) },
      errors: ["invalid_request", "unauthorized", "not_found", "payload_too_large", "rate_limited"],
    }),
    async handle({ services, request }) {
      const reader = findReader(services);
      if (reader === undefined) throw missing("webhook");
      const client = clientOf(services, request);
      const verdict = await admitClient(services.limiter, services.rules.webhook, client);
      refuse(verdict, "This address has sent too many requests.");
      // Before the body: callers who cannot sign must not make us read megabytes.
      const { see, finish } = reader.begin(request.headers, services.clock.nowMs());
      const transcript = await services.webhookBodies.read(request, client.limitSubject, { see, use: finish });
      if (transcript) await keepTranscript(services, reader.name, transcript);
      return { received: true };
    },
  });

export const voiceWebhookRoutes: readonly Route[] = [
  takeDelivery(
    "takeElevenlabsWebhook",
    "/api/voice/elevenlabs/webhook",
    "Where the voice provider delivers transcripts",
  ),
  takeDelivery(
    "takeElevenlabsWebhookAtFormerPath",
    "/api/webhooks/elevenlabs",
    "Where the voice provider delivered transcripts before",
  ),
];
