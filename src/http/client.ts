/** The client that a request comes from, as far as the configured proxies vouch for it. */

import type { Settings } from "../core/dependencies.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { type ClientIp, clientIp } from "./client-ip.ts";
import { contextOf } from "./request-context.ts";

interface ClientDependencies {
  settings: Pick<Settings, "trustedProxies">;
  ids: Pick<IdSource, "uuid">;
  log: Log;
}

let isProxyWarned = false;

/** Clients without a proxy, by socket address: a widget sends several requests. */
const directClients = new Map<string, ClientIp>();
const directClientsLimit = 4096;

export function clientOf(dependencies: ClientDependencies, request: Request): ClientIp {
  const facts = contextOf(request, dependencies.ids);
  if (facts.client !== null) return facts.client;
  const forwardedFor = request.headers.get("x-forwarded-for");
  const client =
    forwardedFor === null
      ? findDirectClient(facts.socketIp)
      : clientIp(facts.socketIp, forwardedFor, dependencies.settings.trustedProxies);
  facts.client = client;
  if (client.isForwardedByUntrusted && !isProxyWarned) {
    isProxyWarned = true;
    dependencies.log.warn(
      "a proxy forwards requests, but COMPANIOND_TRUST_PROXY is 0: all its visitors share one address and its limit",
    );
  }
  return client;
}

function findDirectClient(socketIp: string | null): ClientIp {
  const address = socketIp ?? "";
  let client = directClients.get(address);
  if (client === undefined) {
    // Clearing everything is as good as a list of recent ones.
    if (directClients.size >= directClientsLimit) directClients.clear();
    client = clientIp(socketIp, null, 0);
    directClients.set(address, client);
  }
  return client;
}
