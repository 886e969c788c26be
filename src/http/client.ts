/** Which client a request comes from, as far as the configured proxies vouch for it. */
import type { IdSource } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { type ClientIp, clientIp } from "./client-ip.ts";
import { factsOf } from "./request-facts.ts";
import type { Settings } from "./services.ts";

interface ClientDoor {
  settings: Pick<Settings, "trustedProxies">;
  ids: Pick<IdSource, "uuid">;
  log: Log;
}

let isProxyWarned = false;

export function clientOf(door: ClientDoor, request: Request): ClientIp {
  const facts = factsOf(request, door.ids);
  if (facts.client !== null) return facts.client;
  const client = clientIp(facts.socketIp, request.headers.get("x-forwarded-for"), door.settings.trustedProxies);
  facts.client = client;
  if (client.isForwardedByUntrusted && !isProxyWarned) {
    isProxyWarned = true;
    door.log.warn(
      "a proxy forwards requests, but COMPANIOND_TRUST_PROXY is 0: all its visitors share one address and its limit",
    );
  }
  return client;
}
