/** `…/contact`, `…/ratings` and `…/resolved`: what visitors leave for the team. */
import { AppError } from "../../domain/errors.ts";
import { stateConflict } from "../../domain/handoff.ts";
import { embedTokenParam } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { addRateLimitHeaders, admitClient, refuse } from "../../http/rate-limit.ts";
import { type Route, route } from "../../http/route.ts";
import { toUuid } from "../../lib/ids.ts";
import { contactBodies, ratingBodies, resolvedBodies } from "./feedback-model.ts";
import { admitSender, getAnswering, openVisitor } from "./key-chat.ts";
import type { Sent } from "./model.ts";
import { describeMessage } from "./reply-routes.ts";
import { conversationOfBody, type VisitorCall } from "./visitor-conversation.ts";

/** `admit`: called once before it is kept. */
async function leaveContact(
  call: VisitorCall,
  body: Sent<typeof contactBodies.own>,
  admit: () => Promise<void>,
): Promise<void> {
  const conversation = conversationOfBody(call, body);
  const { people, store } = call.services;
  if (!(await people.takesContact(call.companion))) {
    throw stateConflict("No contact is taken here now.", await store.handoffs.find(conversation.key));
  }
  await admit();
  const { email, name, message } = body;
  await people.leaveContact(conversation, { email: email.trim(), name: name || null, message: message || null });
}

/** Before the body is read, as the ids of all paths. */
function readMessageId(messageId: string): string {
  const clientId = toUuid(messageId);
  if (clientId === undefined) throw new AppError("not_found", "There is no such reply of the companion.");
  return clientId;
}

async function rate(call: VisitorCall, clientId: string, body: Sent<typeof ratingBodies.own>): Promise<void> {
  if (!call.companion.ratings) throw new AppError("conflict", "Replies of this companion are not rated.");
  const { rating, reasons, comment } = body;
  const given = rating && { rating, reasons: [...new Set(reasons ?? [])], comment: comment || null };
  await call.services.people.rate(conversationOfBody(call, body), clientId, given);
}

async function setResolved(call: VisitorCall, body: Sent<typeof resolvedBodies.own>): Promise<void> {
  if (!call.companion.askResolved) {
    throw new AppError("conflict", "Visitors of this companion are not asked whether it is resolved.");
  }
  await call.services.people.setResolved(conversationOfBody(call, body), body.resolved);
}

const session_id = "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10";
const contactExample = { session_id, email: "ada@example.com", name: "Ada", consent: true };
const ratingExample = { session_id, rating: "down", reasons: ["incomplete"] };
const resolvedExample = { session_id, resolved: true };
const keyVisitor = { visitor: { sub: "user-42" } };
const kept = { 204: { description: "Kept." } };
const describeContact =
  "For a companion with `leads`: 409 where it takes no contact now. The newest contact of a conversation counts, and is " +
  "kept with the text that the visitor agreed to; the conversation is open for the team. It may come before any message.";
const describeRating =
  "For a companion with `ratings`; else 409. The last rating counts. 404 unless the companion has replied to this " +
  "message of this visitor.";
const describeResolved =
  "For a companion with `ask_resolved`; else 409. A message after it makes it null. 404 without a conversation.";

export const feedbackRoutes: readonly Route[] = [
  route({
    id: "leaveContact",
    method: "POST",
    path: "/api/embed/{token}/contact",
    tag: "Embed and people",
    summary: "Leave a contact for the team",
    access: "embed",
    asksWork: true,
    body: contactBodies.own,
    document: () => ({
      description: `${describeContact} An address may do so 20 times an hour, unless the operator set another number.`,
      params: { token: embedTokenParam },
      bodyExample: contactExample,
      responses: kept,
      errors: ["conflict"],
    }),
    async handle({ services, request, set, target: { companion }, visitor, work, readBody }) {
      const body = await readBody();
      await leaveContact({ services, request, companion, visitor }, body, async () => {
        const verdict = await admitClient(services.limiter, services.rules.contact, clientOf(services, request));
        addRateLimitHeaders(set.headers, verdict);
        refuse(verdict, "This address has left a contact too often.");
        await work?.spend(null);
      });
    },
  }),
  route({
    id: "rateReply",
    method: "PUT",
    path: "/api/embed/{token}/ratings/{message_id}",
    tag: "Embed and people",
    summary: "Rate a reply",
    access: "embed",
    isLive: true,
    body: ratingBodies.own,
    document: () => ({
      description: describeRating,
      params: { token: embedTokenParam, message_id: describeMessage() },
      bodyExample: ratingExample,
      responses: kept,
      errors: ["not_found", "conflict"],
    }),
    async handle({ services, request, params, target: { companion }, visitor, readBody }) {
      const clientId = readMessageId(params.messageId);
      await rate({ services, request, companion, visitor }, clientId, await readBody());
    },
  }),
  route({
    id: "setResolved",
    method: "PUT",
    path: "/api/embed/{token}/resolved",
    tag: "Embed and people",
    summary: "Say whether it is resolved",
    access: "embed",
    isLive: true,
    body: resolvedBodies.own,
    document: () => ({
      description: describeResolved,
      params: { token: embedTokenParam },
      bodyExample: resolvedExample,
      responses: kept,
      errors: ["not_found", "conflict"],
    }),
    async handle({ services, request, target: { companion }, visitor, readBody }) {
      await setResolved({ services, request, companion, visitor }, await readBody());
    },
  }),
  route({
    id: "leaveContactRelayed",
    method: "POST",
    path: "/api/companions/{id}/contact",
    tag: "Relayed people",
    summary: "Leave a contact for the team, for a platform's visitor",
    access: "chat:write",
    body: contactBodies.relayed,
    document: () => ({
      description: `${describeContact} Without a limit by address.`,
      bodyExample: { ...contactExample, ...keyVisitor },
      responses: kept,
      errors: ["conflict"],
    }),
    async handle({ services, principal, request, params, set, readBody }) {
      const companion = await getAnswering(services, principal, params.id);
      const body = await readBody();
      const visitor = await openVisitor(services, companion, body);
      await admitSender(services, companion, visitor, body, set);
      await leaveContact({ services, request, companion, visitor }, body, async () => {});
    },
  }),
  route({
    id: "rateRelayedReply",
    method: "PUT",
    path: "/api/companions/{id}/ratings/{message_id}",
    tag: "Relayed people",
    summary: "Rate a reply, for a platform's visitor",
    access: "chat:write",
    body: ratingBodies.relayed,
    document: () => ({
      description: describeRating,
      params: { message_id: describeMessage() },
      bodyExample: { ...ratingExample, ...keyVisitor },
      responses: kept,
      errors: ["conflict"],
    }),
    async handle({ services, principal, request, params, readBody }) {
      const companion = await getAnswering(services, principal, params.id);
      const clientId = readMessageId(params.messageId);
      const body = await readBody();
      const visitor = await openVisitor(services, companion, body);
      await rate({ services, request, companion, visitor }, clientId, body);
    },
  }),
  route({
    id: "setResolvedRelayed",
    method: "PUT",
    path: "/api/companions/{id}/resolved",
    tag: "Relayed people",
    summary: "Say whether it is resolved, for a platform's visitor",
    access: "chat:write",
    body: resolvedBodies.relayed,
    document: () => ({
      description: describeResolved,
      bodyExample: { ...resolvedExample, ...keyVisitor },
      responses: kept,
      errors: ["conflict"],
    }),
    async handle({ services, principal, request, params, readBody }) {
      const companion = await getAnswering(services, principal, params.id);
      const body = await readBody();
      const visitor = await openVisitor(services, companion, body);
      await setResolved({ services, request, companion, visitor }, body);
    },
  }),
];
