/** What went wrong with a certificate, in sentences for operators. */
import { AuthorityFailure } from "../../contracts/certificates/authority.ts";
import { AppError } from "../../domain/errors.ts";

const maxDetail = 300;

/** `findings`: what this server found when it checked the names before. */
export function explainFailure(
  error: unknown,
  { directory, nowMs, findings }: { directory: string; nowMs: number; findings: readonly string[] },
): string {
  if (!(error instanceof AuthorityFailure)) return `The certificate could not be obtained: ${describe(error)}.`;
  const sentence = explain(error, directory, nowMs);
  const isOfNames = error.domain !== null;
  return [sentence, ...(isOfNames ? findings : [])].join(" ");
}

function explain({ kind, detail, domain, retryAfterMs }: AuthorityFailure, directory: string, nowMs: number): string {
  const name = domain ?? "the name";
  const words = tidy(detail);
  switch (kind) {
    case "away":
      return `The authority (${new URL(directory).host}) is unavailable: ${words}. It is asked again automatically.`;
    case "limited":
      return retryAfterMs === null
        ? `The authority's limit is reached: ${words}. It is asked again later.`
        : `The authority's limit is reached until ${toTime(nowMs + retryAfterMs, nowMs)}: ${words}.`;
    case "dns":
      return `The authority found no address for ${name}: ${words}. Check its A and AAAA records.`;
    case "connection":
      return `The authority could not connect to port 80 of ${name}: ${words}. Open port 80 to the internet, and check that the A and AAAA records of ${name} point to this server.`;
    case "unauthorized":
      return `Something else answered the authority on port 80 of ${name}: ${words}. Point ${name} to this server, and let nothing in front of it answer /.well-known/acme-challenge/.`;
    case "caa":
      return `A CAA record does not let the authority issue for ${name}: ${words}. Add one that names the authority.`;
    case "name":
      return `The authority does not issue certificates for ${name}: ${words}. Change --domain.`;
    case "email":
      return `The authority does not accept the e-mail address of COMPANIOND_ACME_EMAIL: ${words}. Correct it, or leave it out.`;
    case "terms":
      return `The authority wants its terms to be accepted by hand: ${words}.`;
    case "account":
      return `The authority does not accept this server's account: ${words}. An authority that needs an account set up beforehand cannot be used.`;
    case "untrusted":
      return `The certificate of ${new URL(directory).host} is not trusted (${words}). NODE_EXTRA_CA_CERTS names the file of a private authority.`;
    case "directory":
      return `COMPANIOND_ACME_DIRECTORY is wrong: there is no ACME directory at ${directory} (${words}). Set it to the URL of the authority's directory, then restart the server.`;
    case "unusable":
      return `What answers at ${new URL(directory).host} does not work as an authority: ${words}. Check COMPANIOND_ACME_DIRECTORY.`;
    case "refused":
      return `The authority refused the order${domain === null ? "" : ` for ${domain}`}: ${words}.`;
  }
}

/** One line of bounded length without a full stop; the authority may repeat what the answering host sent. */
function tidy(detail: string): string {
  const line = detail.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return (line.length > maxDetail ? `${line.slice(0, maxDetail)}…` : line).replace(/[.:]+$/, "");
}

/** `14:05 UTC`, and the day if it is another one. */
function toTime(ms: number, nowMs: number): string {
  const [day = "", time = ""] = new Date(ms).toISOString().split("T");
  const isToday = new Date(nowMs).toISOString().startsWith(day);
  return `${isToday ? "" : `${day} `}${time.slice(0, 5)} UTC`;
}

export function describe(error: unknown): string {
  if (error instanceof AppError && error.cause instanceof Error) return tidy(`${error.message} ${error.cause.message}`);
  return tidy(error instanceof Error ? error.message : String(error));
}
