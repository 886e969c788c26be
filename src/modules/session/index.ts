/** `/api/session` and `/api/sessions`: the dashboard signs in and out, and shows who is signed in where. */
import type { Static, TSchema } from "@sinclair/typebox";
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { missing, readId } from "../../domain/resource-id.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { clientOf } from "../../http/client.ts";
import { managementBodyLimitBytes, readJson, signInBodyLimitBytes } from "../../http/json-body.ts";
import { respondEmpty, respondJson } from "../../http/json-response.ts";
import { cutPage, pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { openQuery, refuseQuery } from "../../http/query.ts";
import { cookieNameOf, isAlive, renderCookie } from "../../http/session-cookie.ts";
import { openSession } from "../../http/session-guard.ts";
import { writeContext } from "../../http/write-context.ts";
import type { Checker } from "../../schemas/schema.ts";
import { createAttempts } from "./attempts.ts";
import {
  describeTotp,
  passwordChangeBody,
  passwordResetBody,
  readWireHoldings,
  setUpBody,
  signInBody,
  totpConfirmBody,
  totpRemovalBody,
  toWireServer,
  toWireSession,
  toWireSignedIn,
} from "./model.ts";
import { changePassword, resetPassword, setUp } from "./passwords.ts";
import { beginSecondFactor, confirmSecondFactor, turnOffSecondFactor } from "./second-factor-setup.ts";
import { type SignedInVisitor, signIn } from "./service.ts";
import {
  admitSignIn,
  type CookieHead,
  limitSignIn,
  openSignIn,
  renewDevice,
  respondSignedIn,
  visitorOf,
} from "./sign-in-guard.ts";

export function sessionModule(services: Services) {
  const attempts = createAttempts({ failures: services.coordination.signInFailures, clock: services.clock });

  /** The session behind a request that is about to be asked for a secret, and a place within its limit. */
  async function openLimited(request: Request, set: CookieHead, options = {}): Promise<SignedInVisitor> {
    const { account, sessionId } = await openSession(services, request, set.headers, options);
    refuseQuery(request);
    await limitSignIn(services, { limitSubject: `session ${sessionId}`, networks: null });
    return { visitor: visitorOf(services, request), account, sessionId };
  }

  return (app: Elysia) =>
    app
      .post(
        "/api/session",
        async ({ request, set }) => {
          const { visitor, cookieName } = openSignIn(services, request, set);
          const readBody = () => readJson(request, signInBody, signInBodyLimitBytes);
          const { client, body } = await admitSignIn(services, request, visitor, readBody);
          const made = await signIn(services, attempts, visitor, client, body);
          return respondSignedIn(services, request, set, cookieName, made);
        },
        { parse: "none" },
      )
      .post(
        "/api/session/set-up",
        async ({ request, set }) => {
          const { visitor, cookieName } = openSignIn(services, request, set);
          await limitSignIn(services, clientOf(services, request));
          const made = await setUp(services, visitor, await readBodyOf(request, setUpBody));
          return respondSignedIn(services, request, set, cookieName, made);
        },
        { parse: "none" },
      )
      .post(
        "/api/session/password-reset",
        async ({ request, set }) => {
          const { visitor, cookieName } = openSignIn(services, request, set);
          await limitSignIn(services, clientOf(services, request));
          const body = await readBodyOf(request, passwordResetBody);
          const made = await resetPassword(services, attempts, visitor, body);
          return respondSignedIn(services, request, set, cookieName, made);
        },
        { parse: "none" },
      )
      .get("/api/session", async ({ request, set }) => {
        const { account, session, scopes } = await openSession(services, request, set.headers, { maySetUp: true });
        refuseQuery(request);
        const server = toWireServer(services, account, baseUrlOf(services.settings, request));
        const totp = await describeTotp(services, account);
        const holdings = await readWireHoldings(services, account);
        return respondJson(set, toWireSignedIn({ account, session, scopes, totp, server, holdings }));
      })
      .delete(
        "/api/session",
        async ({ request, set }) => {
          const principal = await openSession(services, request, set.headers, { maySetUp: true });
          refuseQuery(request);
          const context = writeContext(services, request, principal);
          await services.store.sessions.revoke(principal.account.id, principal.sessionId, context);
          const name = cookieNameOf(services.settings, request);
          if (name !== null) set.headers["set-cookie"] = renderCookie(name, "", 0);
          return respondEmpty(set);
        },
        { parse: "none" },
      )
      .post(
        "/api/session/password",
        async ({ request, set }) => {
          const signedIn = await openLimited(request, set);
          const body = await readBodyOf(request, passwordChangeBody);
          await changePassword(services, attempts, signedIn, body);
          await renewDevice(services, request, set, signedIn.account.id);
          return respondEmpty(set);
        },
        { parse: "none" },
      )
      .post(
        "/api/session/totp",
        async ({ request, set }) => {
          const signedIn = await openLimited(request, set, { maySetUp: true });
          const { hostname } = new URL(baseUrlOf(services.settings, request));
          return respondJson(set, await beginSecondFactor(services, signedIn, hostname), 201);
        },
        { parse: "none" },
      )
      .post(
        "/api/session/totp/confirm",
        async ({ request, set }) => {
          const signedIn = await openLimited(request, set, { maySetUp: true });
          const { code } = await readBodyOf(request, totpConfirmBody);
          const codes = await confirmSecondFactor(services, signedIn, code);
          await renewDevice(services, request, set, signedIn.account.id);
          return respondJson(set, { recovery_codes: codes }, 201);
        },
        { parse: "none" },
      )
      .delete(
        "/api/session/totp",
        async ({ request, set }) => {
          const signedIn = await openLimited(request, set);
          const { password } = await readBodyOf(request, totpRemovalBody);
          await turnOffSecondFactor(services, attempts, signedIn, password);
          await renewDevice(services, request, set, signedIn.account.id);
          return respondEmpty(set);
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
        return respondJson(
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
          const id = readId(params.id, "session");
          const isRevoked = await services.store.sessions.revoke(principal.account.id, id, context);
          if (!isRevoked) throw missing("session");
          return respondEmpty(set);
        },
        { parse: "none" },
      );
}

function readBodyOf<Schema extends TSchema>(request: Request, checker: Checker<Schema>): Promise<Static<Schema>> {
  return readJson(request, checker, managementBodyLimitBytes);
}
