/**
 * The CSRF guard: checks that a state-changing request comes from a page of this server, so that other sites cannot use
 * its cookie.
 */

import type { Settings } from "../core/dependencies.ts";
import { AppError } from "../domain/errors.ts";
import { forwardedBase } from "./client-ip.ts";

/** The settings that identify requests to this server. */
export type OwnAddress = Pick<Settings, "publicUrl" | "trustedProxies" | "isTls">;

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Throws `origin_not_allowed` for an unsafe request from another site's page.
 *
 * A request with neither header is accepted: every browser sends one of them with such a request, and other clients
 * have no cookie except from their own sign-in.
 */
export function requireSameOrigin(settings: OwnAddress, request: Request): void {
  if (safeMethods.has(request.method)) return;
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const isOwn = site === null ? origin === null || isOwnOrigin(settings, request, origin) : site === "same-origin";
  if (isOwn) return;
  throw new AppError("origin_not_allowed", "Only the dashboard's own pages may use its session.");
}

/**
 * Compares only host and port with those of the request, since TLS may end before us; a page elsewhere can choose
 * neither.
 */
function isOwnOrigin(settings: OwnAddress, request: Request, origin: string): boolean {
  if (origin === settings.publicUrl) return true;
  const { host } = forwardedBase(request.headers, settings.trustedProxies, settings.isTls);
  return /^https?:\/\//.test(origin) && origin.slice(origin.indexOf("://") + 3) === host;
}
