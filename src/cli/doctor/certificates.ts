/** Checks the certificate of `--domain`: as a running server reports it, or as stored, and the names' addresses. */
import { lookup } from "node:dns/promises";
import { findAuthorityProblem, findStoredCertificate } from "../../app/certificate-checks.ts";
import type { Config } from "../../config/config.ts";
import type { CertificateState } from "../../contracts/certificates/certificates.ts";
import type { Finding } from "../../domain/finding.ts";
import { unlessAborted } from "../../lib/deadline.ts";
import { codeOf } from "../../lib/error-code.ts";
import { dayMs } from "../../lib/instant.ts";
import { fail, ok, warn } from "./finding.ts";

const name = "certificate";
/** One of 90 days is renewed when 30 are left. */
const lateDays = 14;
const lookupMs = 5_000;

export function judgeCertificate(state: CertificateState, nowMs: number): Finding {
  const { domains, expiresAtMs, nextAttemptAtMs, problem } = state;
  const names = domains.join(", ");
  const next =
    nextAttemptAtMs === null ? "An attempt is under way." : `The next attempt is ${toTime(nextAttemptAtMs)}.`;
  const advice =
    `${next} To try immediately after a change, send SIGHUP to the server (systemctl reload companiond); a changed setting ` +
    "needs a restart.";
  if (expiresAtMs === null) {
    if (problem !== null) return fail(name, `There is none for ${names} yet. ${problem}`, advice);
    return warn(name, `There is none for ${names} yet.`, "A running server obtains it within a minute or so.");
  }
  const days = Math.floor((expiresAtMs - nowMs) / dayMs);
  const life = days < 0 ? "has expired" : `is valid for ${days} more days`;
  if (problem !== null) {
    const detail = `The one for ${names} ${life}, and cannot be renewed. ${problem}`;
    return days < lateDays ? fail(name, detail, advice) : warn(name, detail, advice);
  }
  if (days < 0) return fail(name, `The one for ${names} ${life}.`, "A running server renews it.");
  return ok(name, `The one for ${names} ${life}, and is renewed in time.`);
}

/** Where no server runs, and so none reports more. */
export async function examineStoredCertificate(config: Config, nowMs: number): Promise<Finding[]> {
  if (config.server.acme === null) return [];
  const state = await findStoredCertificate(config);
  if (state === null) return [ok(name, "It is in the database, sealed: a running server reports it.")];
  return [judgeCertificate(state, nowMs)];
}

/** Before an order needs it, too: a certificate that is renewed in a month hides a directory that is gone. */
export async function examineAuthority(
  { server: { acme } }: Pick<Config, "server">,
  nowMs: number,
): Promise<Finding[]> {
  if (acme === null) return [];
  const about = "authority";
  const problem = await findAuthorityProblem(acme.directory, nowMs);
  if (problem === null) return [ok(about, `${new URL(acme.directory).host} is one.`)];
  if (problem.isPassing)
    return [warn(about, problem.sentence, "Check the network of this machine if it stays like this.")];
  return [fail(about, problem.sentence, "Until then, no certificate is obtained or renewed.")];
}

type LookUp = (name: string) => Promise<readonly { readonly address: string }[]>;

/** Whether they lead here, only the server can find out, and it does before each order. */
export async function examineDomains(
  { server: { acme } }: Pick<Config, "server">,
  lookUp: LookUp = (asked) => lookup(asked, { all: true }),
): Promise<Finding[]> {
  return await Promise.all((acme?.domains ?? []).map((domain) => examineName(domain, lookUp)));
}

async function examineName(domain: string, lookUp: LookUp): Promise<Finding> {
  try {
    const addresses = await unlessAborted(AbortSignal.timeout(lookupMs), lookUp(domain));
    const texts = [...new Set(addresses.map(({ address }) => address))];
    return ok("domain", `${domain} points to ${texts.join(" and ")}.`);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOTFOUND" || code === "DNS_ENOTFOUND") {
      return fail("domain", `${domain} does not resolve.`, "Add an A or AAAA record that points to this server.");
    }
    const advice = "Check the name servers of this machine (/etc/resolv.conf).";
    return warn("domain", `${domain} could not be looked up${code === "" ? "" : ` (${code})`}.`, advice);
  }
}

/** `at 2026-01-02 03:04 UTC` */
function toTime(ms: number): string {
  return `at ${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
