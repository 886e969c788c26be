/** `/api/webhooks`: the servers of an account that receive its events, and the deliveries to them. */
import { Type as t } from "@sinclair/typebox";
import { missing } from "../../domain/errors.ts";
import { maxWebhooks } from "../../domain/webhook.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { uncheckedBody } from "../../http/json-body.ts";
import { listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { readCheck, tagVersion, toVersion } from "../../http/preconditions.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { WebhookEvent } from "./event-schemas.ts";
import { newWebhookBody, webhookPatchBody } from "./model.ts";
import {
  AttemptObject,
  DeliveryObject,
  NewWebhookAnswer,
  RotatedWebhook,
  toWireAttempt,
  toWireDelivery,
  toWireWebhook,
  WebhookObject,
} from "./responses.ts";
import { getWebhook, prepareWebhook, retryDelivery, rotateSecret, updateWebhook } from "./service.ts";

/** An attempt takes 15 seconds at most. */
const attemptSilenceSeconds = 20;

export const webhookRoutes: readonly Route[] = [
  route({
    id: "listWebhooks",
    method: "GET",
    path: "/api/webhooks",
    tag: "Webhooks",
    summary: "List webhooks",
    access: "webhooks:read",
    query: { page: pageQuery },
    document: () => ({
      description: "Newest first.",
      responses: { 200: jsonResponse("A page of webhooks.", listOf(WebhookObject, "WebhookList")) },
    }),
    handle: async ({ services, principal, query }) =>
      toWireList(await services.store.webhooks.list(principal.account.id, query.page), toWireWebhook),
  }),
  route({
    id: "createWebhook",
    method: "POST",
    path: "/api/webhooks",
    tag: "Webhooks",
    summary: "Create a webhook",
    access: "webhooks:write",
    body: uncheckedBody(newWebhookBody),
    isIdempotent: true,
    document: () => ({
      description:
        "From now on events are sent to its URL, in requests that are signed according to " +
        "[Standard Webhooks](https://www.standardwebhooks.com). " +
        `An account has up to ${maxWebhooks}; one more is 409 \`conflict\`.`,
      bodyExample: { url: "https://shop.example/companiond-events", events: ["message.completed"] },
      sends: {
        name: "event",
        summary: "An event",
        description:
          "Repeated until it is confirmed by any 2xx, with the headers `webhook-id`, `webhook-timestamp` and " +
          "`webhook-signature` of Standard Webhooks.",
        body: WebhookEvent,
      },
      responses: {
        201: jsonResponse("The webhook with its secret, shown only this once.", NewWebhookAnswer, "ETag"),
      },
    }),
    async handle({ services, principal, set, createOnce }) {
      const text = await createOnce(async (body, { nowMs }) => {
        const { made, secret, write } = await prepareWebhook(services, principal.account.id, body, nowMs);
        return { response: toWireWebhook(made), secret: { secret }, write };
      });
      tagVersion(set, JSON.parse(text));
      return text;
    },
  }),
  route({
    id: "getWebhook",
    method: "GET",
    path: "/api/webhooks/{id}",
    tag: "Webhooks",
    summary: "Read a webhook",
    access: "webhooks:read",
    document: () => ({
      responses: { 200: jsonResponse("The webhook.", WebhookObject, "ETag") },
    }),
    handle: async ({ services, principal, set, params }) =>
      tagVersion(set, toWireWebhook(await getWebhook(services, principal.account.id, params.id))),
  }),
  route({
    id: "updateWebhook",
    method: "PATCH",
    path: "/api/webhooks/{id}",
    tag: "Webhooks",
    summary: "Change a webhook",
    access: "webhooks:write",
    body: uncheckedBody(webhookPatchBody),
    document: () => ({
      description: "Only what is sent changes. Enabling it clears `disabled_reason`; what was dropped stays dropped.",
      headers: ["If-Match"],
      bodyExample: { enabled: true },
      responses: { 200: jsonResponse("The webhook as it is now.", WebhookObject, "ETag") },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const { id } = principal.account;
      const current = await getWebhook(services, id, params.id);
      const check = readCheck(request, toVersion);
      check?.(current);
      const updated = await updateWebhook(services, id, current, { sent: await readBody(), check }, writeContext());
      return tagVersion(set, toWireWebhook(updated));
    },
  }),
  route({
    id: "deleteWebhook",
    method: "DELETE",
    path: "/api/webhooks/{id}",
    tag: "Webhooks",
    summary: "Delete a webhook",
    access: "webhooks:write",
    document: () => ({
      description: "With its deliveries, including those that wait.",
      headers: ["If-Match"],
      responses: { 204: { description: "Deleted." } },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, params, writeContext }) {
      const { id } = await getWebhook(services, principal.account.id, params.id);
      const check = readCheck(request, toVersion);
      const isDeleted = await services.store.webhooks.delete(principal.account.id, id, writeContext(), check);
      if (!isDeleted) throw missing("webhook");
    },
  }),
  route({
    id: "rotateWebhookSecret",
    method: "POST",
    path: "/api/webhooks/{id}/rotate-secret",
    tag: "Webhooks",
    summary: "Replace a webhook's secret",
    access: "webhooks:write",
    document: () => ({
      description: "Requests are signed with the new one from the next attempt on, also of deliveries that wait.",
      responses: { 200: jsonResponse("The webhook with its new secret, shown only this once.", RotatedWebhook) },
    }),
    async handle({ services, principal, params, writeContext }) {
      const { id } = await getWebhook(services, principal.account.id, params.id);
      const { webhook, secret } = await rotateSecret(services, principal.account.id, id, writeContext());
      return { ...toWireWebhook(webhook), secret };
    },
  }),
  route({
    id: "testWebhook",
    method: "POST",
    path: "/api/webhooks/{id}/test",
    tag: "Webhooks",
    summary: "Send a test event to a webhook",
    access: "webhooks:write",
    document: () => ({
      description:
        "Sends `webhook.test` immediately, even if the webhook is disabled, signed like any other event. Waits for the " +
        "response, 15 seconds at most.",
      responses: { 200: jsonResponse("The outcome.", AttemptObject) },
    }),
    async handle({ services, request, principal, params }) {
      const webhook = await getWebhook(services, principal.account.id, params.id);
      contextOf(request, services.ids).allowSilence(attemptSilenceSeconds);
      return toWireAttempt(await services.events.test(principal.account.id, webhook));
    },
  }),
  route({
    id: "listWebhookDeliveries",
    method: "GET",
    path: "/api/webhooks/{id}/deliveries",
    tag: "Webhooks",
    summary: "List a webhook's deliveries",
    access: "webhooks:read",
    query: { page: pageQuery },
    document: () => ({
      description: "Of the last 30 days, newest first. Response bodies are not kept.",
      responses: { 200: jsonResponse("A page of deliveries.", listOf(DeliveryObject, "WebhookDeliveryList")) },
    }),
    async handle({ services, principal, params, query }) {
      const { id } = await getWebhook(services, principal.account.id, params.id);
      const page = await services.store.webhooks.listDeliveries(principal.account.id, id, query.page);
      if (page === null) throw missing("webhook");
      return toWireList(page, toWireDelivery);
    },
  }),
  route({
    id: "retryWebhookDelivery",
    method: "POST",
    path: "/api/webhooks/{id}/deliveries/{delivery_id}/retry",
    tag: "Webhooks",
    summary: "Send a delivery again",
    access: "webhooks:write",
    document: () => ({
      description:
        "Sends it immediately, whatever its state, even if the webhook is disabled, and without waiting for earlier ones of " +
        "its conversation. Waits for the response, 15 seconds at most. 409 `conflict` if what the event was about has " +
        "been deleted.",
      params: {
        delivery_id: t.String({ description: "Of the delivery.", examples: ["msg_0192f3c1"] }),
      },
      responses: { 200: jsonResponse("The delivery as it is now.", DeliveryObject) },
      errors: ["conflict"],
    }),
    async handle({ services, request, principal, params }) {
      const { id } = principal.account;
      const webhook = await getWebhook(services, id, params.id);
      contextOf(request, services.ids).allowSilence(attemptSilenceSeconds);
      return toWireDelivery(await retryDelivery(services, id, webhook, params.deliveryId));
    },
  }),
];
