/** Checks where the instances of one database reach one another. */
import type { Config } from "../../config/config.ts";
import type { LiveInstance } from "../../contracts/store/inspection.ts";
import { ownUrlOf } from "../../core/instances/own-url.ts";
import { isLoopbackHost } from "../../lib/loopback.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { reachServer } from "./reach.ts";

/** `find` is null for what does not answer as a server of ours. */
export async function examineInstanceUrls(
  config: Pick<Config, "server" | "instanceUrl">,
  instances: readonly LiveInstance[],
  find: (url: string) => Promise<unknown> = (url) => findAt(url, config.server.acme?.domains[0]),
): Promise<Finding> {
  const name = "instance URL";
  const own = describeOwn(config);
  const urls = instances.flatMap(({ url }) => url ?? []);
  const twice = urls.find((url, index) => urls.indexOf(url) !== index);
  if (twice !== undefined) {
    const advice = "Set COMPANIOND_INSTANCE_URL of each to an address that is its own, past the proxy.";
    return fail(name, `${own} Several instances announce the address ${twice}.`, advice);
  }
  const answers = await Promise.all(urls.map(find));
  const silent = urls.filter((_, index) => answers[index] === null);
  if (silent.length > 0) {
    const detail = `${own} From this machine, nothing answers at ${silent.join(", ")}.`;
    const advice = isLoopbackHost(new URL(silent[0] ?? "").hostname)
      ? "Set COMPANIOND_INSTANCE_URL of that instance to an address that reaches it from the others."
      : "Let the instances reach one another, past the proxy; https needs a certificate for the name.";
    return warn(name, detail, `${advice} Replies cannot be resumed through another instance otherwise.`);
  }
  if (urls.length === 0) return ok(name, own);
  return ok(name, `${own} ${urls.length} of ${instances.length} that run have announced theirs, and answer.`);
}

function describeOwn({ server, instanceUrl }: Pick<Config, "server" | "instanceUrl">): string {
  const { host, port, tls, acme } = server;
  if (instanceUrl === null && port === 0) return "The others reach this one at the port that it takes.";
  return `The others reach this one at ${instanceUrl ?? ownUrlOf({ host, port, isTls: tls !== null || acme !== null })}.`;
}

/** An address is not in the certificate: instances take the domain's there, too. */
async function findAt(url: string, domain?: string): Promise<unknown> {
  const isAddress = /^https:\/\/(\[|[\d.]+(:|$))/.test(url);
  const reached = await reachServer(url, { tlsName: isAddress ? (domain ?? null) : null });
  return reached.kind === "none" ? null : reached;
}
