/** A visitor in tests: sends a message and reads the stream by the client rule of the spec. */

export interface ChatResponse {
  status: number;
  headers: Headers;
  /** The body as it came. */
  raw: string;
  /** The fragments in order. */
  texts: string[];
  /** All fragments joined. */
  text: string;
  /** Whether the stream ended with its terminator. */
  isDone: boolean;
}

export function sendChat(url: string, token: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/api/embed/${token}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}

/** Spec 4.2: split on lines, ignore lines that do not start with `data: `, stop at the terminator. */
export function readStream(raw: string): { texts: string[]; isDone: boolean } {
  const texts: string[] = [];
  for (const line of raw.split("\n")) {
    if (!line.startsWith("data: ")) continue;
    const payload = line.slice(6);
    if (payload === "[DONE]") return { texts, isDone: true };
    texts.push(JSON.parse(payload).text);
  }
  return { texts, isDone: false };
}

export async function chat(url: string, token: string, body: unknown, init?: RequestInit): Promise<ChatResponse> {
  const response = await sendChat(url, token, body, init);
  const raw = await response.text();
  const { texts, isDone } = response.ok ? readStream(raw) : { texts: [], isDone: false };
  return { status: response.status, headers: response.headers, raw, texts, text: texts.join(""), isDone };
}

export interface Problem {
  status: number;
  code: string;
  request_id: string;
}

export async function readProblem(response: Response): Promise<Problem> {
  return JSON.parse(await response.text());
}
