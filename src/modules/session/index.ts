/** `/api/session` and `/api/sessions`: the dashboard signs in and out, and shows who is signed in where. */
import type { Elysia } from "elysia";
import { scopes } from "../../domain/account.ts";
import { AppError } from "../../domain/errors.ts";
import { lifetimeMs } from "../../domain/session.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { clientOf } from "../../http/client.ts";
import { type AnswerHead, answerJson, answerNothing } from "../../http/json-answer.ts";
import { managementBodyLimitBytes, readJson } from "../../http/json-body.ts";
import { requireOwnPage } from "../../http/own-page.ts";
import { cutPage, pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { missing, readPathId } from "../../http/path-id.ts";
import { openQuery, refuseQuery } from "../../http/query.ts";
import { admitClient, refuse } from "../../http/rate-limit.ts";
import { factsOf } from "../../http/request-facts.ts";
import type { Services } from "../../http/services.ts";
import { cookieNameOf, findSessionPrincipal, isAlive, renderCookie } from "../../http/session-cookie.ts";
import { openSession } from "../../http/session-guard.ts";
import { writeContext } from "../../http/write-context.ts";
import { createAttempts } from "./attempts.ts";
import {
  passwordChangeBody,
  passwordResetBody,
  readWireHoldings,
  setUpBody,
  signInBody,
  toWireServer,
  toWireSession,
  toWireSignedIn,
} from "./model.ts";
import { changePassword, type NewSession, resetPassword, setUp, signIn, type Visitor } from "./service.ts";

export function sessionModule(services: Services) {
  const attempts = createAttempts(services);

  return (app: Elysia) =>
    app
      .post(
        "/api/session",
        async ({ request, set }) => {
          const door = await openSignIn(services, request, set);
          const body = await readJson(request, signInBody, managementBodyLimitBytes);
          return answerSignedIn(services, request, set, door, await signIn(services, attempts, door.visitor, body));
        },
        { parse: "none" },
      )
      .post(
        "/api/session/set-up",
        async ({ request, set }) => {
          const door = await openSignIn(services, request, set);
          const body = await readJson(request, setUpBody, managementBodyLimitBytes);
          return answerSignedIn(services, request, set, door, await setUp(services, door.visitor, body));
        },
        { parse: "none" },
      )
      .post(
        "/api/session/password-reset",
        async ({ request, set }) => {
          const door = await openSignIn(services, request, set);
          const body = await readJson(request, passwordResetBody, managementBodyLimitBytes);
          return answerSignedIn(services, request, set, door, await resetPassword(services, door.visitor, body));
        },
        { parse: "none" },
      )
      .get("/api/session", async ({ request, set }) => {
        const { account, sessionId, scopes } = await openSession(services, request, set.headers);
        refuseQuery(request);
        const session = (await services.store.sessions.list(account.id)).find(({ id }) => id === sessionId);
        if (!session) throw missing("session");
        const server = toWireServer(services, account, baseUrlOf(services.settings, request));
        const holdings = await readWireHoldings(services, account);
        return answerJson(set, toWireSignedIn({ account, session, scopes, server, holdings }));
      })
      .delete(
        "/api/session",
        async ({ request, set }) => {
          const principal = await openSession(services, request, set.headers);
          refuseQuery(request);
          const context = writeContext(services, request, principal);
          await services.store.sessions.revoke(principal.account.id, principal.sessionId, context);
          const name = cookieNameOf(services.settings, request);
          if (name !== null) set.headers["set-cookie"] = renderCookie(name, "", 0);
          return answerNothing(set);
        },
        { parse: "none" },
      )
      .post(
        "/api/session/password",
        async ({ request, set }) => {
          const { account, sessionId } = await openSession(services, request, set.headers);
          refuseQuery(request);
          const visitor = await limitSignIn(services, request);
          const body = await readJson(request, passwordChangeBody, managementBodyLimitBytes);
          await changePassword(services, attempts, visitor, account, sessionId, body);
          return answerNothing(set);
        },
        { parse: "none" },
      )
      .get("/api/sessions", async ({ request, set }) => {
        const { account, sessionId } = await openSession(services, request, set.headers);
        const query = openQuery(request, pageParameters);
        const page = readPage(query);
        query.finish();
        const nowMs = services.clock.nowMs();
        const alive = (await services.store.sessions.list(account.id)).filter((session) => isAlive(session, nowMs));
        const newestFirst = alive.toSorted((a, b) => (a.id < b.id ? 1 : -1));
        return answerJson(
          set,
          toWireList(cutPage(newestFirst, page), (session) => toWireSession(session, sessionId)),
        );
      })
      .delete(
        "/api/sessions/:id",
        async ({ request, params, set }) => {
          const principal = await openSession(services, request, set.headers);
          refuseQuery(request);
          const context = writeContext(services, request, principal);
          const id = readPathId(params.id, "session");
          const isRevoked = await services.store.sessions.revoke(principal.account.id, id, context);
          if (!isRevoked) throw missing("session");
          return answerNothing(set);
        },
        { parse: "none" },
      );
}

interface SignInDoor {
  visitor: Visitor;
  cookieName: string;
  /** The account that was signed in at this browser before, with its session, which the new one replaces. */
  endBefore(): Promise<void>;
}

/** What comes before every sign-in: no other site's page, no wire that anyone can read, no flood. */
async function openSignIn(services: Services, request: Request, set: AnswerHead): Promise<SignInDoor> {
  set.headers["cache-control"] = "no-store";
  requireOwnPage(services.settings, request);
  refuseQuery(request);
  const cookieName = cookieNameOf(services.settings, request);
  if (cookieName === null) throw wireIsOpen(services, request);
  const visitor = await limitSignIn(services, request);
  return {
    visitor,
    cookieName,
    async endBefore() {
      const before = await findSessionPrincipal(services, request);
      if (before?.sessionId == null) return;
      const context = writeContext(services, request, before);
      await services.store.sessions.revoke(before.account.id, before.sessionId, context);
    },
  };
}

async function limitSignIn(services: Services, request: Request): Promise<Visitor> {
  const client = clientOf(services, request);
  const verdict = await admitClient(services.limiter, services.rules.signInByIp, client);
  refuse(verdict, "This address has tried to sign in too often.");
  return {
    client: client.limitSubject,
    ipPrefix: client.logPrefix,
    userAgent: request.headers.get("user-agent")?.slice(0, 300) ?? null,
    requestId: factsOf(request, services.ids).requestId,
  };
}

async function answerSignedIn(
  services: Services,
  request: Request,
  set: AnswerHead,
  door: SignInDoor,
  { account, session, token }: NewSession,
): Promise<string> {
  await door.endBefore();
  set.headers["set-cookie"] = renderCookie(door.cookieName, token, lifetimeMs / 1000);
  const server = toWireServer(services, account, baseUrlOf(services.settings, request));
  const holdings = await readWireHoldings(services, account);
  return answerJson(set, toWireSignedIn({ account, session, scopes, server, holdings }), 201);
}

function wireIsOpen(services: Services, request: Request): AppError {
  const address = baseUrlOf(services.settings, request).replace(/^http:/, "https:");
  return new AppError(
    "invalid_request",
    `Signing in needs TLS here, since anyone on the way could read the password. Open ${address}/app; for that, start ` +
      "the server with --tls-cert and --tls-key, or put a proxy with TLS in front of it and set " +
      "COMPANIOND_TRUST_PROXY=1. On the server's own machine, http://localhost works as it is.",
  );
}
