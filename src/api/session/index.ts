/** `/api/session` and `/api/sessions`: the dashboard signs in and out, and shows who is signed in where. */
import { AppError, missing, readId } from "../../domain/errors.ts";
import { identityOf } from "../../domain/member.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { jsonBody } from "../../http/json-body.ts";
import { cutPage, listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { openPrincipal } from "../../http/principal-guard.ts";
import { type Route, route } from "../../http/route.ts";
import { cookieNameOf, isAlive, renderCookie } from "../../http/session-cookie.ts";
import { passwordChangeBody, readWireSignedIn } from "./model.ts";
import { changePassword } from "./passwords.ts";
import { PossiblySignedIn, SessionObject, SignedIn, toWireSession } from "./responses.ts";
import { secondFactorRoutes } from "./second-factor-routes.ts";
import { limitSignedIn, renewDevice } from "./sign-in-guard.ts";
import { signInRoutes } from "./sign-in-routes.ts";

export const sessionRoutes: readonly Route[] = [
  ...signInRoutes,
  route({
    id: "getSession",
    method: "GET",
    path: "/api/session",
    tag: "Session",
    summary: "Who is signed in",
    access: "session",
    maySetUp: true,
    document: () => ({ responses: { 200: jsonResponse("Account, scopes and session.", SignedIn) } }),
    handle: ({ services, request, principal }) =>
      readWireSignedIn(services, principal, principal.session, baseUrlOf(services.settings, request)),
  }),
  route({
    id: "findSession",
    method: "GET",
    path: "/api/session/current",
    tag: "Session",
    summary: "Who is signed in, if anyone is",
    access: "public",
    document: () => ({
      description:
        "As `GET /api/session`, for browsers that may be signed out: without a valid session, `signed_in` is null.",
      responses: { 200: jsonResponse("What `GET /api/session` responds, or null.", PossiblySignedIn) },
      errors: ["insufficient_scope", "origin_not_allowed", "rate_limited"],
    }),
    async handle({ services, request, set }) {
      const principal = await openPrincipal(services, request, "session", set.headers, { maySetUp: true }).catch(
        ifSignedOut,
      );
      if (principal === null || principal.sessionId === null) return { signed_in: null };
      const baseUrl = baseUrlOf(services.settings, request);
      return { signed_in: await readWireSignedIn(services, principal, principal.session, baseUrl) };
    },
  }),
  route({
    id: "signOut",
    method: "DELETE",
    path: "/api/session",
    tag: "Session",
    summary: "Sign out",
    access: "session",
    maySetUp: true,
    document: () => ({ responses: { 204: { description: "Signed out.", headers: ["Set-Cookie"] } } }),
    async handle({ services, request, set, principal, writeContext }) {
      await services.store.sessions.revoke(identityOf(principal), principal.sessionId, writeContext());
      const name = cookieNameOf(services.settings, request);
      if (name !== null) set.headers["set-cookie"] = renderCookie(name, "", 0);
    },
  }),
  route({
    id: "changePassword",
    method: "POST",
    path: "/api/session/password",
    tag: "Session",
    summary: "Change the password",
    access: "session",
    body: jsonBody(passwordChangeBody),
    document: () => ({
      description: "All other sessions and all links of the person end.",
      responses: { 204: { description: "Changed.", headers: ["Set-Cookie"] } },
    }),
    async handle({ services, request, set, principal, readBody }) {
      const signedIn = await limitSignedIn(services, request, principal);
      await changePassword(services, signedIn, await readBody());
      await renewDevice(services, request, set, principal.account);
    },
  }),
  route({
    id: "listSessions",
    method: "GET",
    path: "/api/sessions",
    tag: "Session",
    summary: "List the signed-in person's sessions",
    access: "session",
    query: { page: pageQuery },
    document: () => ({
      responses: { 200: jsonResponse("A page of sessions.", listOf(SessionObject, "SessionList")) },
    }),
    async handle({ services, principal, query }) {
      const nowMs = services.clock.nowMs();
      const own = await services.store.sessions.list(identityOf(principal));
      const alive = own.filter((session) => isAlive(session, nowMs));
      const newestFirst = alive.toSorted((a, b) => (a.id < b.id ? 1 : -1));
      return toWireList(cutPage(newestFirst, query.page), (session) => toWireSession(session, principal.sessionId));
    },
  }),
  route({
    id: "endSession",
    method: "DELETE",
    path: "/api/sessions/{id}",
    tag: "Session",
    summary: "End a session",
    access: "session",
    document: () => ({
      responses: { 204: { description: "Ended: its cookie is refused from now on." } },
    }),
    async handle({ services, principal, params, writeContext }) {
      const id = readId(params.id, "session");
      if (!(await services.store.sessions.revoke(identityOf(principal), id, writeContext()))) throw missing("session");
    },
  }),
  ...secondFactorRoutes,
];

function ifSignedOut(error: unknown): null {
  if (error instanceof AppError && error.code === "unauthorized") return null;
  throw error;
}
