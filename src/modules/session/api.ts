/** The session routes, for the API document. */
import { type ApiOperation, idParam } from "../../http/api-description.ts";
import { pageQuery } from "../../http/paging.ts";
import { schemasOf } from "../../http/query.ts";
import {
  passwordChangeBody,
  passwordResetBody,
  setUpBody,
  signInBody,
  totpConfirmBody,
  totpRemovalBody,
} from "./model.ts";
import { RecoveryCodes, SessionList, SignedIn, TotpSecret } from "./responses.ts";

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
    errors: ["unauthorized", "totp_required", "origin_not_allowed", "rate_limited"],
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
    description:
      "All other sessions and links of the account end. Where it has a second factor, the answer is 401 `totp_required`, " +
      "and the link stays good, until `totp` is right too.",
    access: "public",
    body: { schema: passwordResetBody.schema },
    answers: signedIn,
    errors: ["unauthorized", "totp_required", "origin_not_allowed", "not_found", "rate_limited"],
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
    description: "All other sessions and all reset links of the account end.",
    access: "session",
    body: { schema: passwordChangeBody.schema },
    answers: { 204: { description: "Changed.", headers: ["Set-Cookie"] } },
  },
  {
    id: "listSessions",
    method: "GET",
    path: "/api/sessions",
    tag,
    summary: "List the account's sessions",
    access: "session",
    query: schemasOf(pageQuery),
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

const totpRoutes: ApiOperation[] = [
  {
    id: "beginTotp",
    method: "POST",
    path: "/api/session/totp",
    tag,
    summary: "Begin to set up a second factor",
    description: "Makes a secret (RFC 6238: SHA-1, six digits, 30 s), which counts once a code of it was confirmed.",
    access: "session",
    answers: { 201: { description: "The secret, shown this once.", content: { "application/json": TotpSecret } } },
    errors: ["conflict"],
  },
  {
    id: "confirmTotp",
    method: "POST",
    path: "/api/session/totp/confirm",
    tag,
    summary: "Turn the second factor on with a code of its secret",
    description: "All other sessions of the account end.",
    access: "session",
    body: { schema: totpConfirmBody.schema },
    answers: {
      201: {
        description: "Recovery codes, shown this once.",
        headers: ["Set-Cookie"],
        content: { "application/json": RecoveryCodes },
      },
    },
    errors: ["conflict"],
  },
  {
    id: "removeTotp",
    method: "DELETE",
    path: "/api/session/totp",
    tag,
    summary: "Turn the second factor off",
    access: "session",
    body: { schema: totpRemovalBody.schema },
    answers: { 204: { description: "Off: the password alone signs in.", headers: ["Set-Cookie"] } },
    errors: ["not_found"],
  },
];

export const sessionApi: ApiOperation[] = [...signInRoutes, ...sessionRoutes, ...totpRoutes];
