/** What a person reads once the server listens: what to open, and what to try. */

export interface StartFacts {
  /** As visitors reach it. */
  url: string;
  /** As this machine reaches it. */
  listeningUrl: string;
  llmName: string;
  demoToken: string | null;
}

export function describeStart({ url, listeningUrl, llmName, demoToken }: StartFacts): string {
  const lines = ["", `companiond is listening. Open ${url}/`];
  if (demoToken !== null) {
    lines.push("", "Or chat with the demo companion from a terminal:", "", `  ${writeCurl(listeningUrl, demoToken)}`);
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
  // 0.0.0.0 and :: are addresses to listen on, not to call.
  const reachable = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  const body = `'{"message":"Hello! Who are you?"}'`;
  return `curl -N ${reachable}/api/embed/${token}/chat -H 'Content-Type: application/json' -d ${body}`;
}
