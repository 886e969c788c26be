/** Evaluates `Accept` headers (RFC 9110, 12.5.1). */

/** From 0 to 1; of the matching ranges, the most specific one counts. */
function qualityOf(accept: string, type: string): number {
  const entries = accept.split(",").map((entry) => {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
    return { range, quality: quality === undefined ? 1 : Number(quality) };
  });
  for (const range of [type, `${type.slice(0, type.indexOf("/"))}/*`, "*/*"]) {
    const found = entries.find((entry) => entry.range === range);
    // A malformed quality was meant to be a number: such a range is not preferred over others.
    if (found !== undefined) return Number.isFinite(found.quality) ? found.quality : 0;
  }
  return 0;
}

/** Whether the client prefers `type` over each of the `others`; false for a tie, and without a header. */
export function prefers(accept: string | null, type: string, ...others: readonly string[]): boolean {
  if (accept === null) return false;
  const quality = qualityOf(accept, type);
  return others.every((other) => quality > qualityOf(accept, other));
}

/** True for browsers that open a page; programs send no preference, or accept anything. */
export function prefersHtml(request: Request): boolean {
  return prefers(request.headers.get("accept"), "text/html", "application/problem+json", "application/json");
}

/** Adds to the `Vary` header; CORS may have set its own part. */
export function varyBy(headers: Record<string, string | number>, name: string): void {
  const known = String(headers.vary ?? "").split(/, */);
  headers.vary = [...known, name].filter((one, index, all) => one !== "" && all.indexOf(one) === index).join(", ");
}
