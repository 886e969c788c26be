/** `/api/presence`: whether someone of the team is there for visitors. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Principal } from "../../domain/account.ts";
import { type FieldError, invalidFields } from "../../domain/errors.ts";
import { maxPresenceMs, maxPresent } from "../../domain/presence.ts";
import { actingPerson, describeAs } from "../../http/acting-person.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { type Route, route } from "../../http/route.ts";
import { instant, namedObject } from "../../http/schemas/named-object.ts";
import { compileBody, Nullable } from "../../http/schemas/schema.ts";
import { toNullableRfc3339 } from "../../lib/clock.ts";

const minSeconds = 60;
const maxSeconds = maxPresenceMs / 1000;

const presenceBody = compileBody("PresenceChange", () => ({
  available: t.Optional(
    t.Boolean({ description: "Of sessions: the member's own switch, the same on all devices. It is off at first." }),
  ),
  for_seconds: t.Optional(
    t.Integer({
      ...{ minimum: 0, maximum: maxSeconds, examples: [300] },
      description: `Of API keys: for how long the person is there from now on, ${minSeconds} to ${maxSeconds}; 0 ends it.`,
    }),
  ),
  as: describeAs(),
}));

const PresenceObject = namedObject("Presence", () => ({
  available: t.Boolean({ description: "A member counts as present while it is on and their dashboard is open." }),
  until: Nullable(instant("When it ends, of an API key's person.")),
}));

export const presenceRoutes: readonly Route[] = [
  route({
    id: "setPresence",
    method: "PUT",
    path: "/api/presence",
    tag: "People",
    summary: "Be there for visitors, or not",
    access: "conversations:reply",
    body: jsonBody(presenceBody),
    document: () => ({
      description: `Sessions send \`available\`, API keys \`for_seconds\` and \`as\`, for at most ${maxPresent} people of an account within an hour.`,
      bodyExample: { for_seconds: 300, as: { name: "Grace" } },
      responses: { 200: jsonResponse("As it is now.", PresenceObject) },
      errors: ["limit_reached"],
    }),
    async handle({ services, principal, readBody }) {
      const { store, live, clock } = services;
      const sent = await readBody();
      const { isAvailable, forSeconds } = toPresence(principal, sent);
      const person = await actingPerson(services, principal, sent.as);
      const untilMs = forSeconds === null || !isAvailable ? null : clock.nowMs() + forSeconds * 1000;
      const presence = { person, companionIds: null, isAvailable, seenAtMs: null, untilMs };
      await store.handoffs.setPresence(principal.account.id, presence);
      live.notePresence(principal.account.id);
      return { available: isAvailable, until: toNullableRfc3339(untilMs) };
    },
  }),
];

function toPresence({ keyId }: Principal, { available, for_seconds }: Static<typeof presenceBody.schema>) {
  const required = { detail: "This field is required." };
  const errors: FieldError[] = [];
  if (keyId === null) {
    if (available === undefined) errors.push({ param: "available", ...required });
    if (for_seconds !== undefined) errors.push({ param: "for_seconds", detail: "Only API keys send it." });
  } else {
    if (for_seconds === undefined) errors.push({ param: "for_seconds", ...required });
    else if (for_seconds !== 0 && for_seconds < minSeconds) {
      errors.push({ param: "for_seconds", detail: `Must be 0, or ${minSeconds} to ${maxSeconds}.` });
    }
    if (available !== undefined) errors.push({ param: "available", detail: "Only sessions send it." });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return keyId === null
    ? { isAvailable: available === true, forSeconds: null }
    : { isAvailable: for_seconds !== 0, forSeconds: for_seconds ?? 0 };
}
