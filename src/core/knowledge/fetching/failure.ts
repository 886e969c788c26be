/** What owners see when a page cannot be fetched: sentences that reveal nothing of the network that we are in. */

const sentences = {
  scheme: "Only addresses that begin with http:// or https:// can be read.",
  credentials: "The address must not contain a user name or password.",
  port: "The address has a port that is not one of websites.",
  // The same for unregistered names and for names within a private network, so that they cannot be told apart.
  notPublic: "The address does not lead to a public host.",
  unresolved: "The host name could not be resolved.",
  unreachable: "The host could not be reached.",
  certificate: "The host's certificate is not valid.",
  brokenOff: "The host broke off its response.",
  notHttp: "The host's response is not HTTP.",
  late: "The host took longer than 20 seconds.",
  busy: "Too many pages of the host are waiting.",
  large: "The page is larger than 5 MiB.",
  coding: "The page has a compression that is not supported.",
  redirects: "The address redirects more than three times.",
  redirect: "The address redirects to no other.",
  elsewhere: "The address redirects to another site.",
  unasked: "The host answers that nothing has changed, without having been asked.",
  robots: "The site's robots.txt does not allow it to be read.",
  robotsUnread: "The site's robots.txt cannot be read at present, so its pages are not read either.",
  robotsLong: "The site's robots.txt has more rules than can be followed, so its pages are not read.",
  noSitemap: "The address is no sitemap, and the site names none in its robots.txt.",
  noPages: "The sitemap lists no pages of its own site.",
} as const;

const passing: ReadonlySet<keyof typeof sentences> = new Set([
  "unresolved",
  "unreachable",
  "brokenOff",
  "notHttp",
  "late",
  "busy",
  "robotsUnread",
]);

/** The message is for the owner. The cause is never shown: it may name addresses. */
export class FetchingFailure extends Error {
  /** Whether it may pass, so that a retry is worthwhile. */
  readonly isTransient: boolean;

  constructor(sentence: string, isTransient: boolean) {
    super(sentence);
    this.name = "FetchingFailure";
    this.isTransient = isTransient;
  }
}

export function failFetching(why: keyof typeof sentences): FetchingFailure {
  return new FetchingFailure(sentences[why], passing.has(why));
}

export function failWithStatus(status: number): FetchingFailure {
  if (status === 404 || status === 410) return new FetchingFailure(`The page does not exist (${status}).`, false);
  if (status === 401 || status === 403) return new FetchingFailure(`The page is not public (${status}).`, false);
  const isTransient = status >= 500 || status === 408 || status === 425 || status === 429;
  return new FetchingFailure(`The host answered with status ${status}.`, isTransient);
}
