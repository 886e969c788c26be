/** `/api/inbox/events`: what happens in the conversations of an account, live, for its team. */
import type { TSchema } from "@sinclair/typebox";
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import type { ListenerRight } from "../../core/people/live.ts";
import type { KeyPrincipal } from "../../domain/account.ts";
import { AppError } from "../../domain/errors.ts";
import { readerQuery, readingPersonId } from "../../http/acting-person.ts";
import { findSession } from "../../http/caller-right.ts";
import { LiveStream } from "../../http/live-stream.ts";
import { valueQuery } from "../../http/query.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { OneOf } from "../../http/schemas/schema.ts";
import { isAlive, type OpenedSession } from "../../http/session-cookie.ts";
import { openResponse } from "../../http/stream-response.ts";
import { InboxFeed } from "./feed.ts";
import { InboxEventData } from "./responses.ts";

type Caller = KeyPrincipal | OpenedSession;

const contentQuery = valueQuery(
  "include_content",
  () => t.Boolean({ default: false, description: "Whether conversations come with their newest messages." }),
  (text) => (text === "true" ? true : text === "false" ? false : undefined),
  "Must be true or false.",
);

const includeQuery = valueQuery(
  "include",
  () =>
    OneOf(["excerpts"], {
      description: "Adds `first_message`, `last_message`, `unanswered`, `failed` and `channels` to each conversation.",
    }),
  (text) => (text === "excerpts" ? text : undefined),
  "Must be one of: excerpts.",
);

/** Null for what cannot be one: then everything is sent. */
function readLastId({ headers }: Request): number | null {
  const sent = headers.get("last-event-id") ?? "";
  return /^\d{1,15}$/.test(sent) ? Number(sent) : null;
}

const reachOf = (caller: Caller) => (caller.keyId === null ? (caller.member?.companionIds ?? null) : null);

/** Ends with the session or key, and for a member whose companions become others. */
function rightOf({ store, clock, live }: Services, caller: Caller): ListenerRight {
  if (caller.keyId !== null) {
    const { keyId } = caller;
    return {
      name: `inbox key ${keyId}`,
      async check() {
        // Of no companion: only the key's own right is asked for.
        const right = await store.apiKeys.checkCaller(keyId, "");
        const endsAtMs = right?.expiresAt ?? null;
        if (endsAtMs !== null) live.rights.expectEnd(endsAtMs);
        return right !== null && (endsAtMs === null || endsAtMs > clock.nowMs());
      },
      tokenEndsAtMs: null,
    };
  }
  const { sessionHash } = caller;
  const reach = JSON.stringify(reachOf(caller));
  return {
    name: `inbox session ${sessionHash} ${reach}`,
    async check() {
      const found = await findSession({ store }, sessionHash, "conversations:read");
      if (found === null || JSON.stringify(found.member?.companionIds ?? null) !== reach) return false;
      live.rights.expectEnd(found.session.expiresAt);
      return isAlive(found.session, clock.nowMs());
    },
    tokenEndsAtMs: null,
  };
}

export const inboxRoutes: readonly Route[] = [
  route({
    id: "followInbox",
    method: "GET",
    path: "/api/inbox/events",
    tag: "People",
    summary: "Follow the conversations outside plain talk",
    access: "conversations:read",
    query: { hasContent: contentQuery, include: includeQuery, as: readerQuery },
    document: () => ({
      description:
        "An event stream: at first `event: conversation` for each that changed after `Last-Event-ID` (without it: for all), " +
        "as it stands now, then for each change; `event: typing`; `event: presence`, at first and when it changes. `: ping` " +
        "every 10 s. Come back with the last `id`: no change is missed. Members see their own companions only, and are " +
        "present for visitors while their dashboard has such a stream and their switch is on.",
      responses: {
        200: {
          description: "Server-Sent Events. `: error unavailable` before an end of the server's.",
          get content(): Record<string, TSchema> {
            return { "text/event-stream": InboxEventData };
          },
        },
      },
      errors: ["unavailable"],
    }),
    async handle({ services, principal, request, set, query }) {
      const { live, lifecycle, heartbeats, ids } = services;
      if (lifecycle.isDraining) {
        throw new AppError("unavailable", "The server is shutting down.", { retryAfterSeconds: 1 });
      }
      const accountId = principal.account.id;
      const personId = readingPersonId(principal, query.as);
      const isMember = principal.keyId === null;
      const memberId = isMember ? personId : null;
      const slot = live.takeSlot(`inbox ${principal.keyId ?? principal.sessionId}`);
      const stream = new LiveStream(request.signal, heartbeats);
      const reader = {
        ...{ accountId, personId, isMember },
        companionIds: reachOf(principal),
        hasContent: query.hasContent === true,
        hasExcerpts: query.include !== null,
      };
      const feed = new InboxFeed(services, reader, stream, readLastId(request));
      const leave = live.listenInbox({ accountId, memberId, right: rightOf(services, principal) }, feed);
      stream.onOpen = () => feed.begin();
      const response = openResponse(stream, set.headers as Record<string, string>, contextOf(request, ids));
      set.headers = {};
      stream.whenEnded(() => {
        leave();
        slot.release();
      });
      return response;
    },
  }),
];
