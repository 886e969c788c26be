/** What of a companion is about people of the team, while it is edited: as text, and what would be sent of it. */
import type { Companion, Json } from "../lib/types.ts";

type Handoff = NonNullable<Companion["handoff"]>;
type Leads = NonNullable<Companion["leads"]>;

export const weekdays = [
  ["mon", "Monday"],
  ["tue", "Tuesday"],
  ["wed", "Wednesday"],
  ["thu", "Thursday"],
  ["fri", "Friday"],
  ["sat", "Saturday"],
  ["sun", "Sunday"],
] as const;
export type Weekday = (typeof weekdays)[number][0];

export interface Span {
  from: string;
  to: string;
}

export const maxSpans = 4;
const maxClosed = 100;
const maxTextLength = 1000;

export interface HandoffDraft {
  isOn: boolean;
  mode: Handoff["mode"] & string;
  ask: readonly string[];
  when: Handoff["when"] & string;
  hasHours: boolean;
  timezone: string;
  week: Record<Weekday, Span[]>;
  /** Dates, one per line. */
  closed: string;
  wait_seconds: string;
  idle_minutes: string;
  waiting_text: string;
  person_text: string;
  unavailable_text: string;
}

export interface LeadsDraft {
  isOn: boolean;
  when: Leads["when"];
  consent_text: string;
  reply_to: string;
}

export interface PeopleDraft {
  handoff: HandoffDraft;
  leads: LeadsDraft;
  ratings: boolean;
  ask_resolved: boolean;
}

/** Fields within the two objects, as the server names them. */
export type PeopleProblem = `handoff.${string}` | `leads.${string}`;

const workdays: readonly Weekday[] = ["mon", "tue", "wed", "thu", "fri"];

/** With what is proposed where nothing is set. */
export function toPeopleDraft(companion: Pick<Companion, keyof PeopleDraft> | null): PeopleDraft {
  const { handoff = null, leads = null, ratings = false, ask_resolved = false } = companion ?? {};
  const { hours = null } = handoff ?? {};
  return {
    handoff: {
      isOn: handoff !== null,
      mode: handoff?.mode ?? "asked",
      ask: handoff?.ask ?? ["visitor", "model"],
      when: handoff?.when ?? "present",
      hasHours: hours !== null,
      timezone: hours?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      week: toWeekDraft(hours?.week ?? Object.fromEntries(workdays.map((day) => [day, [["09:00", "17:00"]]]))),
      closed: (hours?.closed ?? []).join("\n"),
      wait_seconds: String(handoff?.wait_seconds ?? 120),
      idle_minutes: String(handoff?.idle_minutes ?? 30),
      waiting_text: handoff?.waiting_text ?? "",
      person_text: handoff?.person_text ?? "",
      unavailable_text: handoff?.unavailable_text ?? "",
    },
    leads: {
      isOn: leads !== null,
      when: leads?.when ?? "unavailable",
      consent_text: leads?.consent_text ?? "",
      reply_to: leads?.reply_to ?? "",
    },
    ratings,
    ask_resolved,
  };
}

function toWeekDraft(week: Partial<Record<Weekday, [string, string][]>>): Record<Weekday, Span[]> {
  const spansOf = (day: Weekday) =>
    (week[day] ?? []).map(([from, to]) => ({ from, to: to === "24:00" ? "00:00" : to }));
  return Object.fromEntries(weekdays.map(([day]) => [day, spansOf(day)])) as Record<Weekday, Span[]>;
}

/** Fields for times end a day with 00:00. */
const endOf = ({ to }: Span) => (to === "00:00" ? "24:00" : to);

function readDates(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

export function toPeopleBody({ handoff, leads, ratings, ask_resolved }: PeopleDraft): Record<string, Json> {
  const orNull = (text: string) => (text.trim() === "" ? null : text);
  const open = weekdays.filter(([day]) => handoff.week[day].length > 0);
  const hours = {
    timezone: handoff.timezone,
    week: Object.fromEntries(open.map(([day]) => [day, handoff.week[day].map((span) => [span.from, endOf(span)])])),
    closed: readDates(handoff.closed),
  };
  return {
    handoff: handoff.isOn
      ? {
          ...{ mode: handoff.mode, ask: [...handoff.ask], when: handoff.when, hours: handoff.hasHours ? hours : null },
          wait_seconds: Number(handoff.wait_seconds),
          idle_minutes: Number(handoff.idle_minutes),
          waiting_text: orNull(handoff.waiting_text),
          person_text: orNull(handoff.person_text),
          unavailable_text: orNull(handoff.unavailable_text),
        }
      : null,
    leads: leads.isOn
      ? { when: leads.when, consent_text: leads.consent_text, reply_to: orNull(leads.reply_to.trim()) }
      : null,
    ratings,
    ask_resolved,
  };
}

export function findPeopleProblems({ handoff, leads }: PeopleDraft): Partial<Record<PeopleProblem, string>> {
  const problems: Partial<Record<PeopleProblem, string>> = {};
  if (handoff.isOn) {
    const isWithin = (text: string, least: number, most: number) =>
      Number.isInteger(Number(text)) && Number(text) >= least && Number(text) <= most;
    if (!isWithin(handoff.wait_seconds, 30, 900)) problems["handoff.wait_seconds"] = "Must be 30 to 900.";
    if (!isWithin(handoff.idle_minutes, 5, 1440)) problems["handoff.idle_minutes"] = "Must be 5 to 1440.";
    for (const field of ["waiting_text", "person_text", "unavailable_text"] as const) {
      if ([...handoff[field]].length > maxTextLength)
        problems[`handoff.${field}`] = `At most ${maxTextLength} characters.`;
    }
  }
  if (handoff.isOn && handoff.hasHours) {
    for (const [day] of weekdays) {
      const problem = spansProblem(handoff.week[day]);
      if (problem) problems[`handoff.hours.week.${day}`] = problem;
    }
    const dates = readDates(handoff.closed);
    const wrong = dates.find((date) => !/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(Date.parse(date)));
    if (wrong) problems["handoff.hours.closed"] = `“${wrong}” is no date: write 2026-12-25.`;
    else if (dates.length > maxClosed) problems["handoff.hours.closed"] = `At most ${maxClosed} days.`;
  }
  if (leads.isOn) {
    if (leads.consent_text.trim() === "") problems["leads.consent_text"] = "Write what the visitor agrees to.";
    else if ([...leads.consent_text].length > maxTextLength) {
      problems["leads.consent_text"] = `At most ${maxTextLength} characters.`;
    }
    if (leads.reply_to.trim() !== "" && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(leads.reply_to.trim())) {
      problems["leads.reply_to"] = "Must be an email address.";
    }
  }
  return problems;
}

function spansProblem(spans: readonly Span[]): string | null {
  if (spans.some(({ from, to }) => from === "" || to === "")) return "Enter both times.";
  if (spans.some((span) => span.from >= endOf(span))) return "Must end after it begins; none runs over midnight.";
  const sorted = spans.toSorted((one, other) => (one.from < other.from ? -1 : 1));
  const overlap = sorted.some((span, at) => at > 0 && endOf(sorted[at - 1] as Span) > span.from);
  return overlap ? "These times overlap." : null;
}
