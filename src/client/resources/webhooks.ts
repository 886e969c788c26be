/** `/api/webhooks`: the account's servers that receive its events, and what was delivered. */
import type {
  ListWebhookDeliveriesQuery,
  ListWebhooksQuery,
  NewWebhook,
  NewWebhookAnswer,
  RotatedWebhook,
  Webhook,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookPatch,
} from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import {
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  condition,
  creationHeaders,
  readVersion,
  type Transport,
} from "../transport.ts";

export function webhookCalls(transport: Transport) {
  const path = ["api", "webhooks"];
  const list = (query: ListWebhooksQuery = {}, options: CallOptions = {}) =>
    transport.json<WebhookList>({ method: "GET", path, query }, options);
  const listDeliveries = (id: string, query: ListWebhookDeliveriesQuery = {}, options: CallOptions = {}) =>
    transport.json<WebhookDeliveryList>({ method: "GET", path: [...path, id, "deliveries"], query }, options);

  return {
    list,
    listAll: (query: ListWebhooksQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(page, options)),

    /** Its secret is in this answer only. */
    create: (webhook: NewWebhook, options: CreateOptions = {}) =>
      transport.json<NewWebhookAnswer>(
        { method: "POST", path, body: webhook, headers: creationHeaders(options) },
        options,
      ),

    get: (id: string, options: CallOptions = {}) =>
      transport.json<Webhook>({ method: "GET", path: [...path, id] }, options),

    /** With the version that it has: for `ifMatch`. */
    async getVersion(id: string, options: CallOptions = {}) {
      const { found: webhook, etag } = await readVersion<Webhook>(transport, [...path, id], options);
      return { webhook, etag };
    },

    /** Only the fields that are sent change. */
    update: (id: string, patch: WebhookPatch, options: ChangeOptions = {}) =>
      transport.json<Webhook>({ method: "PATCH", path: [...path, id], body: patch, ...condition(options) }, options),

    /** With its deliveries. */
    delete: (id: string, options: ChangeOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, id], ...condition(options) }, options),

    /** The new secret is in this answer only. */
    rotateSecret: (id: string, options: CallOptions = {}) =>
      transport.json<RotatedWebhook>({ method: "POST", path: [...path, id, "rotate-secret"] }, options),

    /** Sends it a test event, and waits for the response. */
    test: (id: string, options: CallOptions = {}) =>
      transport.json<WebhookAttempt>({ method: "POST", path: [...path, id, "test"] }, options),

    deliveries: {
      list: listDeliveries,
      listAll: (id: string, query: ListWebhookDeliveriesQuery = {}, options: CallOptions = {}) =>
        iteratePages(query, (page) => listDeliveries(id, page, options)),

      /** Sends it immediately, and waits for the response. */
      retry: (id: string, deliveryId: string, options: CallOptions = {}) =>
        transport.json<WebhookDelivery>(
          { method: "POST", path: [...path, id, "deliveries", deliveryId, "retry"] },
          options,
        ),
    },
  };
}
