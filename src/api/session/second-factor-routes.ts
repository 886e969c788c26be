/** `/api/session/totp`: the signed-in person's second factor. */
import { jsonResponse } from "../../http/api-description.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { jsonBody } from "../../http/json-body.ts";
import { type Route, route } from "../../http/route.ts";
import { totpConfirmBody, totpRemovalBody } from "./model.ts";
import { RecoveryCodes, TotpSecret } from "./responses.ts";
import { beginSecondFactor, confirmSecondFactor, turnOffSecondFactor } from "./second-factor-setup.ts";
import { limitSignedIn, renewDevice } from "./sign-in-guard.ts";

export const secondFactorRoutes: readonly Route[] = [
  route({
    id: "beginTotp",
    method: "POST",
    path: "/api/session/totp",
    tag: "Session",
    summary: "Begin to set up a second factor",
    access: "session",
    maySetUp: true,
    status: 201,
    document: () => ({
      description:
        "Creates a secret (RFC 6238: SHA-1, six digits, 30 s). It takes effect once one of its codes has been confirmed.",
      responses: { 201: jsonResponse("The secret, shown this once.", TotpSecret) },
      errors: ["conflict"],
    }),
    async handle({ services, request, principal }) {
      const signedIn = await limitSignedIn(services, request, principal);
      return beginSecondFactor(services, signedIn, new URL(baseUrlOf(services.settings, request)).hostname);
    },
  }),
  route({
    id: "confirmTotp",
    method: "POST",
    path: "/api/session/totp/confirm",
    tag: "Session",
    summary: "Turn the second factor on with a code from its secret",
    access: "session",
    maySetUp: true,
    status: 201,
    body: jsonBody(totpConfirmBody),
    document: () => ({
      description: "All other sessions of the person end.",
      responses: { 201: jsonResponse("Recovery codes, shown this once.", RecoveryCodes, "Set-Cookie") },
      errors: ["conflict"],
    }),
    async handle({ services, request, set, principal, readBody }) {
      const signedIn = await limitSignedIn(services, request, principal);
      const { code } = await readBody();
      const codes = await confirmSecondFactor(services, signedIn, code);
      await renewDevice(services, request, set, principal.account);
      return { recovery_codes: codes };
    },
  }),
  route({
    id: "removeTotp",
    method: "DELETE",
    path: "/api/session/totp",
    tag: "Session",
    summary: "Turn the second factor off",
    access: "session",
    body: jsonBody(totpRemovalBody),
    document: () => ({
      responses: { 204: { description: "Off: the password alone signs in.", headers: ["Set-Cookie"] } },
      errors: ["not_found"],
    }),
    async handle({ services, request, set, principal, readBody }) {
      const signedIn = await limitSignedIn(services, request, principal);
      const { password } = await readBody();
      await turnOffSecondFactor(services, signedIn, password);
      await renewDevice(services, request, set, principal.account);
    },
  }),
];
