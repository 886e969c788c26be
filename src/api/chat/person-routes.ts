/** `…/person`: a visitor asks for a person of the team, or goes back to the companion. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Asked } from "../../core/people/people.ts";
import type { Companion } from "../../domain/companion.ts";
import { invalidFields } from "../../domain/errors.ts";
import { conversationStates, type Handoff, stateConflict } from "../../domain/handoff.ts";
import { embedTokenParam, jsonResponse } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { uuidQuery } from "../../http/query.ts";
import { addRateLimitHeaders, admitClient, refuse } from "../../http/rate-limit.ts";
import { type Route, route } from "../../http/route.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { OneOf } from "../../http/schemas/schema.ts";
import { toUuid } from "../../lib/ids.ts";
import { admitSender, conversationQuery, getAnswering, openVisitor } from "./key-chat.ts";
import { personBodies, type Sent } from "./model.ts";
import { describeConversation } from "./reply-routes.ts";
import { conversationOf, conversationOfBody, type VisitorCall } from "./visitor-conversation.ts";

const instant = (description: string) =>
  t.Union([t.String({ format: "date-time", examples: ["2026-11-30T09:00:00.000Z"] }), t.Null()], { description });

const PersonAsked = namedObject("PersonAsked", () => ({
  state: OneOf(conversationStates, { description: "Who answers the conversation now." }),
  until: instant("When the wait for a person ends, or a silence; null where no deadline runs."),
  available: t.Boolean({ description: "Whether a person is available." }),
  reopens_at: instant("When the team is there again; null while it is, and where that is not known."),
  contact: t.Boolean({ description: "Whether the visitor may leave a contact now." }),
}));
type PersonAsked = Static<typeof PersonAsked>;

function toWirePersonAsked(
  { state, untilMs, isAvailable, reopensAtMs }: Asked,
  { leads }: Pick<Companion, "leads">,
): PersonAsked {
  return {
    state,
    until: untilMs === null ? null : new Date(untilMs).toISOString(),
    available: isAvailable,
    reopens_at: reopensAtMs === null ? null : new Date(reopensAtMs).toISOString(),
    contact: leads !== null && (leads.when === "always" || !isAvailable),
  };
}

/** `admit`: as that of `People.ask`. */
async function ask(
  asking: VisitorCall,
  body: Sent<typeof personBodies.own>,
  admit?: () => Promise<void>,
): Promise<PersonAsked> {
  const { services, companion } = asking;
  const conversation = conversationOfBody(asking, body);
  if (companion.handoff === null) throw noPeople(null);
  const asked = await services.people.ask(conversation, "visitor", body.reason || null, admit);
  return toWirePersonAsked(asked, companion);
}

async function goBack(asking: VisitorCall, sessionId: string | null, visitorId: string | null): Promise<void> {
  const { services, companion } = asking;
  if (sessionId === null) throw invalidFields([{ param: "session_id", detail: "This parameter is required." }]);
  const conversation = conversationOf(asking, sessionId, visitorId);
  if (companion.handoff !== null) return await services.people.goBack(conversation);
  const handoff = await services.store.handoffs.find(conversation.key);
  if (handoff === null || handoff.status === null) throw noPeople(handoff);
}

function noPeople(handoff: Handoff | null) {
  return stateConflict("No person can be asked for here: the companion has no handoff.", handoff);
}

/** Throws `invalid_request` for what is no UUID. */
function readIds(request: Request): { sessionId: string | null; visitorId: string | null } {
  const { searchParams } = new URL(request.url);
  const read = (param: string) => {
    const sent = searchParams.get(param) || null;
    const id = sent === null ? null : toUuid(sent);
    if (id === undefined) throw invalidFields([{ param, detail: "Must be a UUID." }]);
    return id;
  };
  return { sessionId: read("session_id"), visitorId: read("visitor_id") };
}

const asked200 = () => ({ 200: jsonResponse("How the conversation stands now.", PersonAsked) });
const back204 = { 204: { description: "The companion answers this conversation." } };
const askExample = { session_id: "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10", reason: "I want to talk to someone." };

export const personRoutes: readonly Route[] = [
  route({
    id: "askForPerson",
    method: "POST",
    path: "/api/embed/{token}/person",
    tag: "Embed and people",
    summary: "Ask for a person of the team",
    access: "embed",
    asksWork: true,
    body: personBodies.own,
    document: () => ({
      description:
        "For a companion with `handoff`. Where a person is available the conversation waits for one (`waiting`) until `until`; " +
        "otherwise its state stays, and the ask counts as missed. Asking again changes nothing. It may come before any message. " +
        "409 where visitors may not ask. An address may ask for 20 conversations an hour, unless the operator set another number.",
      params: { token: embedTokenParam },
      bodyExample: askExample,
      responses: asked200(),
      errors: ["conflict"],
    }),
    async handle({ services, request, set, target: { companion }, visitor, work, readBody }) {
      const body = await readBody();
      return await ask({ services, request, companion, visitor }, body, async () => {
        const verdict = await admitClient(services.limiter, services.rules.person, clientOf(services, request));
        addRateLimitHeaders(set.headers, verdict);
        refuse(verdict, "This address has asked for a person too often.");
        await work?.spend(null);
      });
    },
  }),
  route({
    id: "backToCompanion",
    method: "DELETE",
    path: "/api/embed/{token}/person",
    tag: "Embed and people",
    summary: "Go back to the companion",
    access: "embed",
    document: () => ({
      description:
        "Ends the wait for a person, or the conversation with one. Does nothing where the companion answers already.",
      params: { token: embedTokenParam },
      query: describeConversation(),
      responses: back204,
      errors: ["invalid_request", "conflict"],
    }),
    async handle({ services, request, target: { companion }, visitor }) {
      const { sessionId, visitorId } = readIds(request);
      await goBack({ services, request, companion, visitor }, sessionId, visitor?.id ?? visitorId);
    },
  }),
  route({
    id: "askForPersonRelayed",
    method: "POST",
    path: "/api/companions/{id}/person",
    tag: "Relayed people",
    summary: "Ask for a person of the team, for a platform's visitor",
    access: "chat:write",
    body: personBodies.relayed,
    document: () => ({
      description:
        "As in the public chat, with the visitor for whom the platform vouches, and without a limit by address.",
      bodyExample: { ...askExample, visitor: { sub: "user-42" } },
      responses: asked200(),
      errors: ["conflict"],
    }),
    async handle({ services, principal, request, params, set, readBody }) {
      const companion = await getAnswering(services, principal, params.id);
      const body = await readBody();
      const visitor = await openVisitor(services, companion, body);
      await admitSender(services, companion, visitor, body, set);
      return await ask({ services, request, companion, visitor }, body);
    },
  }),
  route({
    id: "backToCompanionRelayed",
    method: "DELETE",
    path: "/api/companions/{id}/person",
    tag: "Relayed people",
    summary: "Go back to the companion, for a platform's visitor",
    access: "chat:write",
    query: {
      sessionId: uuidQuery("session_id", () => describeConversation().session_id),
      visitorId: uuidQuery("visitor_id", () => describeConversation().visitor_id),
      visitorSub: conversationQuery.visitorSub,
    },
    document: () => ({
      description: "As in the public chat.",
      responses: back204,
      errors: ["conflict"],
    }),
    async handle({ services, principal, request, params, query: { sessionId, visitorId, visitorSub } }) {
      const companion = await getAnswering(services, principal, params.id);
      const verified = visitorSub === null ? null : await services.visitors.findId(companion.accountId, visitorSub);
      // No one vouched for them before: the companion answers them.
      if (visitorSub !== null && verified === null) return;
      await goBack({ services, request, companion, visitor: null }, sessionId, verified ?? visitorId);
    },
  }),
];
