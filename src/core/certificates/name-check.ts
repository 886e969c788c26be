/** What this server can find out about a name on its own, to report more than an authority does when an attempt fails. */
import { lookup } from "node:dns/promises";
import { unlessAborted } from "../../lib/deadline.ts";
import { codeOf } from "../../lib/error-code.ts";

export interface NameFinding {
  /** Whether the name has no address here. Where a network has name servers of its own, the authority may know one. */
  readonly isMissing: boolean;
  readonly sentence: string;
}

export interface NameProbe {
  /** This is what the server answers under `/.well-known/acme-challenge/{token}` now. */
  readonly token: string;
  readonly answer: string;
}

/** Null if the name leads here. Never rejects. */
export type CheckName = (name: string, probe: NameProbe) => Promise<NameFinding | null>;

type LookUp = (name: string) => Promise<readonly { readonly address: string }[]>;

const lookupMs = 5_000;
const answerMs = 5_000;
const maxAddresses = 3;

/** `port` is the one that authorities connect to: always 80, but for tests, which also have names of their own. */
export function createNameCheck(port = 80, lookUp: LookUp = (name) => lookup(name, { all: true })): CheckName {
  return async (name, { token, answer }) => {
    const found = await resolve(name, lookUp);
    if (found === "missing") {
      const sentence = `${name} does not resolve yet. Add an A or AAAA record that points to this server.`;
      return { isMissing: true, sentence };
    }
    // The authority asks other name servers.
    const where = found === "unknown" ? name : `${name} points to ${found}, which`;
    const heard = await ask(`http://${name}:${port}/.well-known/acme-challenge/${token}`);
    if (heard === answer) return null;
    return {
      isMissing: false,
      sentence:
        heard === null
          ? `From here, ${where} does not answer on port 80.`
          : `From here, ${where} answers as something else.`,
    };
  };
}

async function resolve(name: string, lookUp: LookUp): Promise<string> {
  try {
    const addresses = await unlessAborted(AbortSignal.timeout(lookupMs), lookUp(name));
    const texts = [...new Set(addresses.map(({ address }) => address))];
    return texts.length === 0 ? "missing" : texts.slice(0, maxAddresses).join(" and ");
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOTFOUND" || code === "DNS_ENOTFOUND" ? "missing" : "unknown";
  }
}

/** The beginning of what answers, at most as long as an answer can be; null if nothing does. */
async function ask(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(answerMs) });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();
    return new TextDecoder().decode(first?.value ?? new Uint8Array());
  } catch {
    return null;
  }
}
