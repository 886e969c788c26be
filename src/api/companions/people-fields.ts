/** The fields of a companion that are about people: their schemas, their rules and the translation of `handoff` and `leads`. */
import { type Static, type TSchema, Type as t } from "@sinclair/typebox";
import type { FieldError } from "../../domain/errors.ts";
import {
  type HandoffSettings,
  handoffAsks,
  handoffDefaults,
  handoffModes,
  handoffWhens,
  type LeadSettings,
  type OpeningHours,
  weekdays,
} from "../../domain/handoff.ts";
import { Nullish, OneOf, Text } from "../../http/schemas/schema.ts";
import { isTimezone } from "../../lib/wall-clock.ts";

const timePattern = "^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$";
const closed = { additionalProperties: false } as const;

export function describePeopleFields() {
  // Not a tuple, which generators of clients do not know.
  const span = t.Unsafe<[string, string]>(
    t.Array(Text({ pattern: timePattern, problem: "Must be a time such as 09:00; 24:00 ends a day." }), {
      ...{ minItems: 2, maxItems: 2 },
      description: "From and to, on the zone's wall clock.",
      examples: [["09:00", "17:30"]],
    }),
  );
  const day = () => t.Optional(t.Array(span, { maxItems: 4 }));
  const week: Record<string, TSchema> = Object.fromEntries(weekdays.map((name) => [name, day()]));
  const hours = t.Object(
    {
      timezone: Text({ minLength: 1, maxLength: 64, description: "An IANA zone.", examples: ["Europe/Berlin"] }),
      week: t.Unsafe<OpeningHours["week"]>(
        t.Object(week, {
          ...closed,
          description: "Opening hours by day, at most four spans each; a day that is left out is closed.",
          examples: [{ mon: [["09:00", "17:30"]] }],
        }),
      ),
      closed: Nullish(
        t.Array(
          Text({
            accepts: (text) =>
              /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text,
            problem: "Must be a date of the form YYYY-MM-DD.",
            examples: ["2026-12-25"],
          }),
          { maxItems: 100, description: "Days on which it is closed." },
        ),
      ),
    },
    closed,
  );
  const sentence = (what: string) =>
    Nullish(
      Text({ minLength: 1, maxLength: 1000, description: `${what} Not set: a sentence in the visitor's language.` }),
    );
  const handoff = t.Object(
    {
      mode: Nullish(
        OneOf(handoffModes, {
          description:
            "Which conversations people may take: those in which a person was asked for or a contact was left (`asked`), or `any`.",
        }),
      ),
      ask: Nullish(
        t.Array(OneOf(handoffAsks), {
          maxItems: 3,
          description:
            "What may ask for a person: the `visitor`, the `model`, and `no_answer`: the visitor is offered one where nothing was found. Not set: the first two.",
        }),
      ),
      when: Nullish(
        OneOf(handoffWhens, {
          description:
            "When a person is available: within `hours` and someone is present (`present`), within `hours`, or `always`.",
        }),
      ),
      hours: Nullish(hours),
      wait_seconds: Nullish(
        t.Integer({
          minimum: 30,
          maximum: 900,
          default: handoffDefaults.waitSeconds,
          description: "How long an ask waits for a person before the companion goes on.",
        }),
      ),
      idle_minutes: Nullish(
        t.Integer({
          minimum: 5,
          maximum: 1440,
          default: handoffDefaults.idleMinutes,
          description: "After how long a silence of both sides the companion takes the conversation back.",
        }),
      ),
      waiting_text: sentence("What is said while a person is waited for."),
      person_text: sentence("What is said while a person has the conversation."),
      unavailable_text: sentence("What is said where no one is available."),
    },
    {
      ...closed,
      description: "How people of the team may step into its conversations, replaced as a whole. Not set: they cannot.",
      examples: [{ mode: "asked", ask: ["visitor", "model"], when: "present", wait_seconds: 120 }],
    },
  );
  const leads = t.Object(
    {
      when: OneOf(["unavailable", "always"] as const, {
        description: "Whether the form is offered only while no one is available, or always.",
      }),
      consent_text: Text({ minLength: 1, maxLength: 1000, description: "What the visitor agrees to." }),
      reply_to: Nullish(
        Text({
          maxLength: 254,
          pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+\\.[^\\s@<>,;"]+$',
          problem: "Must be an e-mail address, or null.",
          description: "Where a visitor's answer to a mail goes.",
        }),
      ),
    },
    {
      ...closed,
      description: "What visitors may leave for the team: a contact. Replaced as a whole. Not set: nothing.",
      examples: [
        { when: "unavailable", consent_text: "You may write to me about this.", reply_to: "team@shop.example" },
      ],
    },
  );
  return {
    handoff,
    leads,
    ratings: t.Boolean({ description: "Whether visitors may rate its replies.", examples: [false] }),
    ask_resolved: t.Boolean({ description: "Whether visitors are asked if it is resolved.", examples: [false] }),
  };
}

type PeopleFields = ReturnType<typeof describePeopleFields>;
export type WireHandoff = Required<Static<PeopleFields["handoff"]>>;
export type WireLeads = Required<Static<PeopleFields["leads"]>>;

/** With every default filled in. */
export function toHandoff(sent: Static<PeopleFields["handoff"]>): HandoffSettings {
  const { hours } = sent;
  return {
    mode: sent.mode ?? "asked",
    ask: [...new Set(sent.ask ?? handoffDefaults.ask)],
    when: sent.when ?? "present",
    hours: hours ? { timezone: hours.timezone, week: hours.week, closed: hours.closed ?? [] } : null,
    waitSeconds: sent.wait_seconds ?? handoffDefaults.waitSeconds,
    idleMinutes: sent.idle_minutes ?? handoffDefaults.idleMinutes,
    waitingText: sent.waiting_text ?? null,
    personText: sent.person_text ?? null,
    unavailableText: sent.unavailable_text ?? null,
  };
}

export function toWireHandoff(settings: HandoffSettings): WireHandoff {
  const { hours } = settings;
  return {
    mode: settings.mode,
    ask: [...settings.ask],
    when: settings.when,
    hours: hours && { ...hours, closed: [...hours.closed] },
    wait_seconds: settings.waitSeconds,
    idle_minutes: settings.idleMinutes,
    waiting_text: settings.waitingText,
    person_text: settings.personText,
    unavailable_text: settings.unavailableText,
  };
}

export function toLeads({ when, consent_text, reply_to }: Static<PeopleFields["leads"]>): LeadSettings {
  return { when, consentText: consent_text, replyTo: reply_to ?? null };
}

export function toWireLeads({ when, consentText, replyTo }: LeadSettings): WireLeads {
  return { when, consent_text: consentText, reply_to: replyTo };
}

/** What a schema cannot say of opening hours. */
export function listHoursErrors(hours: Static<PeopleFields["handoff"]>["hours"]): FieldError[] {
  if (hours == null) return [];
  const errors: FieldError[] = [];
  if (!isTimezone(hours.timezone)) {
    errors.push({ param: "handoff.hours.timezone", detail: "Must be an IANA time zone such as Europe/Berlin." });
  }
  for (const [day, spans] of Object.entries(hours.week)) {
    const sorted = [...(spans ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
    const isSound = sorted.every(([from, to], at) => from < to && (sorted[at - 1]?.[1] ?? "") <= from);
    if (!isSound) {
      const detail = "Each span must end after it begins and before the next; none runs over midnight.";
      errors.push({ param: `handoff.hours.week.${day}`, detail });
    }
  }
  return errors;
}
