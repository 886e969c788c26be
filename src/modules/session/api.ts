/** The session routes, for the API document. */
import { type ApiOperation, idParam, pageQuery } from "../../http/api-description.ts";
import { SessionList, SignedIn } from "./answers.ts";
import { passwordChangeBody, passwordResetBody, setUpBody, signInBody } from "./model.ts";

const tag = "Session";
const signedIn = {
  201: {
    description: "Signed in: the cookie holds the session.",
    content: { "application/json": SignedIn },
    headers: ["Set-Cookie"],
  },
} as const;

const signInRoutes: ApiOperation[] = [
  {
    id: "signIn",
    method: "POST",
    path: "/api/session",
    tag,
    summary: "Sign in",
    description:
      "The same answer after the same time for an unknown account and a wrong password. On plain HTTP it works at a " +
      "loopback host only. After five failures the client waits ever longer for this account; other clients do not.",
    access: "public",
    body: { schema: signInBody.schema },
    answers: signedIn,
    errors: ["unauthorized", "origin_not_allowed", "rate_limited"],
  },
  {
    id: "setUp",
    method: "POST",
    path: "/api/session/set-up",
    tag,
    summary: "Spend a set-up link: make the first operator and sign in",
    access: "public",
    body: { schema: setUpBody.schema },
    answers: signedIn,
    errors: ["origin_not_allowed", "not_found", "rate_limited"],
  },
  {
    id: "resetPassword",
    method: "POST",
    path: "/api/session/password-reset",
    tag,
    summary: "Spend a reset link: choose a password and sign in",
    description: "All other sessions of the account end.",
    access: "public",
    body: { schema: passwordResetBody.schema },
    answers: signedIn,
    errors: ["unauthorized", "origin_not_allowed", "not_found", "rate_limited"],
  },
];

const sessionRoutes: ApiOperation[] = [
  {
    id: "getSession",
    method: "GET",
    path: "/api/session",
    tag,
    summary: "Who is signed in",
    access: "session",
    answers: {
      200: { description: "Account, scopes and session.", content: { "application/json": SignedIn } },
    },
    errors: ["not_found"],
  },
  {
    id: "signOut",
    method: "DELETE",
    path: "/api/session",
    tag,
    summary: "Sign out",
    access: "session",
    answers: { 204: { description: "Signed out.", headers: ["Set-Cookie"] } },
  },
  {
    id: "changePassword",
    method: "POST",
    path: "/api/session/password",
    tag,
    summary: "Change the password",
    description: "All other sessions of the account end.",
    access: "session",
    body: { schema: passwordChangeBody.schema },
    answers: { 204: { description: "Changed." } },
  },
  {
    id: "listSessions",
    method: "GET",
    path: "/api/sessions",
    tag,
    summary: "List the account's sessions",
    access: "session",
    query: pageQuery,
    answers: { 200: { description: "A page of sessions.", content: { "application/json": SessionList } } },
  },
  {
    id: "endSession",
    method: "DELETE",
    path: "/api/sessions/{id}",
    tag,
    summary: "End a session",
    access: "session",
    params: { id: idParam("session") },
    answers: { 204: { description: "Ended: its cookie is refused from now on." } },
  },
];

export const sessionApi: ApiOperation[] = [...signInRoutes, ...sessionRoutes];
