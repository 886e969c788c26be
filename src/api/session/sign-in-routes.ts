/** How a session begins: with a password, or with a one-time link. */
import { jsonResponse } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { jsonBody, signInBodyLimitBytes } from "../../http/json-body.ts";
import { type Route, route } from "../../http/route.ts";
import { invitationBody, linkBody, passwordResetBody, setUpBody, signInBody } from "./model.ts";
import { acceptInvitation, describeLink, resetPassword, setUp } from "./passwords.ts";
import { LinkObject, SignedIn } from "./responses.ts";
import { signIn } from "./service.ts";
import { admitSignIn, limitSignIn, openSignIn, respondSignedIn } from "./sign-in-guard.ts";

const makeResponses = () => ({
  201: jsonResponse("Signed in: the cookie holds the session.", SignedIn, "Set-Cookie"),
});

// No `query`: `openSignIn` refuses parameters, in the order of its own checks.
export const signInRoutes: readonly Route[] = [
  route({
    id: "signIn",
    method: "POST",
    path: "/api/session",
    tag: "Session",
    summary: "Sign in",
    access: "public",
    status: 201,
    body: jsonBody(signInBody, { limitBytes: signInBodyLimitBytes }),
    document: () => ({
      description:
        "The same response after the same time for an unknown account and a wrong password. Over plain HTTP it works only " +
        "at a loopback host. After five failures the client waits ever longer for this account; other clients do not.",
      responses: makeResponses(),
      errors: ["unauthorized", "totp_required", "origin_not_allowed", "rate_limited"],
    }),
    async handle({ services, request, set, readBody }) {
      const { visitor, cookieName } = openSignIn(services, request, set);
      const { client, body } = await admitSignIn(services, request, visitor, readBody);
      return respondSignedIn(services, request, set, cookieName, await signIn(services, visitor, client, body));
    },
  }),
  route({
    id: "describeLink",
    method: "POST",
    path: "/api/session/link",
    tag: "Session",
    summary: "What a one-time link is for, without using it",
    access: "public",
    body: jsonBody(linkBody),
    document: () => ({
      description: "The same 404 for a link that is unknown, used, replaced or expired.",
      responses: { 200: jsonResponse("The link, which can still be used.", LinkObject) },
      errors: ["origin_not_allowed", "not_found", "rate_limited"],
    }),
    async handle({ services, request, set, readBody }) {
      openSignIn(services, request, set);
      await limitSignIn(services, clientOf(services, request));
      return describeLink(services, await readBody());
    },
  }),
  route({
    id: "setUp",
    method: "POST",
    path: "/api/session/set-up",
    tag: "Session",
    summary: "Use a set-up link: create the first operator and sign in",
    access: "public",
    status: 201,
    body: jsonBody(setUpBody),
    document: () => ({
      responses: makeResponses(),
      errors: ["origin_not_allowed", "not_found", "rate_limited"],
    }),
    async handle({ services, request, set, readBody }) {
      const { visitor, cookieName } = openSignIn(services, request, set);
      await limitSignIn(services, clientOf(services, request));
      const made = await setUp(services, visitor, await readBody());
      return respondSignedIn(services, request, set, cookieName, made);
    },
  }),
  route({
    id: "resetPassword",
    method: "POST",
    path: "/api/session/password-reset",
    tag: "Session",
    summary: "Use a reset link: choose a password and sign in",
    access: "public",
    status: 201,
    body: jsonBody(passwordResetBody),
    document: () => ({
      description:
        "All other sessions and links of the account's own sign-in end. If it has a second factor, the response is 401 `totp_required`, " +
        "and the link stays valid, until `totp` is right too.",
      responses: makeResponses(),
      errors: ["unauthorized", "totp_required", "origin_not_allowed", "not_found", "rate_limited"],
    }),
    async handle({ services, request, set, readBody }) {
      const { visitor, cookieName } = openSignIn(services, request, set);
      await limitSignIn(services, clientOf(services, request));
      const made = await resetPassword(services, visitor, await readBody());
      return respondSignedIn(services, request, set, cookieName, made);
    },
  }),
  route({
    id: "acceptInvitation",
    method: "POST",
    path: "/api/session/invitation",
    tag: "Session",
    summary: "Use a member's link: choose a password and sign in",
    access: "public",
    status: 201,
    body: jsonBody(invitationBody),
    document: () => ({
      description:
        "Who had not joined the account, has joined it. All other sessions and links of the member end. A second factor is asked " +
        "for as with reset links. 409 if the address signs in already, to another account or as another member.",
      responses: makeResponses(),
      errors: ["unauthorized", "totp_required", "origin_not_allowed", "not_found", "conflict", "rate_limited"],
    }),
    async handle({ services, request, set, readBody }) {
      const { visitor, cookieName } = openSignIn(services, request, set);
      await limitSignIn(services, clientOf(services, request));
      const made = await acceptInvitation(services, visitor, await readBody());
      return respondSignedIn(services, request, set, cookieName, made);
    },
  }),
];
