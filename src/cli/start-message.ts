/** What a person reads once the server listens: what to open, and what to try. */

export interface StartFacts {
  /** As visitors reach it. */
  url: string;
  /** As this machine reaches it. */
  listeningUrl: string;
  llmName: string;
  demoToken: string | null;
  /** Shown only where a person is the one who reads. */
  setupLink: string | null;
}

export function describeStart({ url, listeningUrl, llmName, demoToken, setupLink }: StartFacts): string {
  const lines = ["", `companiond is listening. Open ${url}/`];
  if (demoToken !== null) {
    lines.push("", "Or chat with the demo companion from a terminal:", "", `  ${writeCurl(listeningUrl, demoToken)}`);
  }
  if (setupLink !== null) {
    lines.push("", "Nobody can sign in to the dashboard yet. Set it up within 30 minutes (the link works once):", "");
    lines.push(`  ${setupLink}`);
  }
  if (llmName === "demo") {
    lines.push(
      "",
      "No language model is configured, so the built-in demo answers from a script. For a real one set OPENAI_API_KEY,",
      "or OPENAI_BASE_URL for any other OpenAI-compatible endpoint.",
    );
  }
  return [...lines, ""].join("\n");
}

/** `-N`: without it curl holds the stream back. */
function writeCurl(url: string, token: string): string {
  const body = `'{"message":"Hello! Who are you?"}'`;
  return `curl -N ${toReachable(url)}/api/embed/${token}/chat -H 'Content-Type: application/json' -d ${body}`;
}

/** 0.0.0.0 and :: are addresses to listen on, not to call. */
export function toReachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
