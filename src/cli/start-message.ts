/** What a person reads once the server is listening: what to open, and what to try. */

export interface StartFacts {
  /** The address for visitors. */
  url: string;
  /** The address on this machine. */
  listeningUrl: string;
  /** HTTPS begins with the first certificate, and there is none yet. */
  isAwaited?: boolean;
  llmName: string;
  demoToken: string | null;
  /** Passed only if a person reads the message. */
  setupLink: string | null;
}

export function describeStart({ url, listeningUrl, llmName, demoToken, setupLink, ...more }: StartFacts): string {
  const lines = ["", `companiond is listening. Open ${url}/`];
  if (more.isAwaited) lines.push("The certificate is being obtained. Until it is there, connections are refused.");
  if (demoToken !== null) {
    lines.push("", "Or chat with the demo companion from a terminal:", "", `  ${writeCurl(listeningUrl, demoToken)}`);
  }
  if (setupLink !== null) {
    lines.push("", "No one can sign in to the dashboard yet. Set it up within 30 minutes (the link works once):", "");
    lines.push(`  ${setupLink}`);
  }
  if (llmName === "demo") {
    lines.push(
      "",
      "No language model is configured, so the built-in demo replies from a script. For a real model set OPENAI_API_KEY,",
      "or OPENAI_BASE_URL for any other OpenAI-compatible endpoint.",
    );
  }
  return [...lines, ""].join("\n");
}

/** `-N`: otherwise curl buffers the stream. */
function writeCurl(url: string, token: string): string {
  const body = `'{"message":"Hello! Who are you?"}'`;
  return `curl -N ${toReachable(url)}/api/embed/${token}/chat -H 'Content-Type: application/json' -d ${body}`;
}

/** 0.0.0.0 and :: can be listened on, but not called. */
export function toReachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
