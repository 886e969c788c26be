/** The webhook routes, for the API document. */
import { Type as t } from "@sinclair/typebox";
import type { ApiOperation } from "../../http/api-description.ts";

export const webhooksApi: ApiOperation[] = [
  {
    id: "takeElevenlabsWebhook",
    method: "POST",
    path: "/api/webhooks/elevenlabs",
    tag: "Service",
    summary: "Where the voice provider delivers transcripts",
    description: "Signed by the provider, in the provider's own format. There only where the server knows the secret.",
    access: "public",
    answers: {
      200: {
        description: "Taken.",
        content: { "application/json": t.Object({ received: t.Literal(true) }, { $id: "WebhookTaken" }) },
      },
    },
    errors: ["invalid_request", "unauthorized", "not_found", "payload_too_large", "rate_limited"],
  },
];
