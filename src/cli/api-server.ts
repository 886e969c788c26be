/** The management API of a server, for commands that work over HTTP: `--url` and `--api-key-file`. */
import { isJsonObject, type JsonValue } from "../domain/json.ts";
import { type ActionInput, CommandFailure, file, free, Misuse, type OptionSpec } from "./command.ts";
import { openNamedFile } from "./named-file.ts";

export const apiServerOptions = {
  url: { value: free("url"), about: "A server to do it at, over HTTP, instead of the data directory." },
  "api-key-file": { value: file, about: "A file with the API key for --url." },
} as const satisfies Readonly<Record<string, OptionSpec>>;

interface ApiCall {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A form, or what is sent as JSON. */
  readonly body?: JsonValue | FormData;
  /** For the whole answer. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What a server refused, by its problem document. */
export class ApiRefusal extends CommandFailure {
  constructor(
    message: string,
    readonly status: number,
    /** Empty where the answer is not the API's. */
    readonly code: string,
    readonly problem: JsonValue,
  ) {
    super(message);
  }
}

export interface ApiServer {
  /** As it was given, without a slash at the end. */
  readonly url: string;
  /** Rejects with `ApiRefusal` for an answer that is no success, and with `CommandFailure` if there is none. */
  call(method: string, path: string, call?: ApiCall): Promise<ApiAnswer>;
}

const usualTimeoutMs = 60_000;
const maxAnswerBytes = 64 * 1024 * 1024;
const maxKeyBytes = 1024;

/** Null without `--url`. */
export function openApiServer({ args, io }: Pick<ActionInput, "args" | "io">): ApiServer | null {
  const given = args.find("url");
  const keyFile = args.find("api-key-file");
  if (given === undefined) {
    if (keyFile !== undefined) throw new Misuse("--api-key-file is for --url.");
    return null;
  }
  const parsed = URL.parse(given);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.search !== "" || parsed.hash !== "") {
    throw new Misuse("--url must be the address of a server, such as https://chat.example.com.");
  }
  if (keyFile === undefined) throw new Misuse("--url needs --api-key-file.");
  const named = openNamedFile(io.user, keyFile);
  const key = named.size > maxKeyBytes ? "" : new TextDecoder().decode(named.read()).trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandFailure(`${keyFile}: has no API key in it.`);
  const url = given.replace(/\/+$/, "");
  return { url, call: (method, path, call = {}) => ask(`${url}${path}`, key, method, call) };
}

async function ask(at: string, key: string, method: string, call: ApiCall): Promise<ApiAnswer> {
  const { query = {}, headers, body, timeoutMs = usualTimeoutMs, signal } = call;
  const search = new URLSearchParams(query).toString();
  const limit = AbortSignal.timeout(timeoutMs);
  const isForm = body instanceof FormData;
  const sent = {
    ...headers,
    Authorization: `Bearer ${key}`,
    ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }),
  };
  try {
    const response = await fetch(search === "" ? at : `${at}?${search}`, {
      ...{ method, headers: sent, redirect: "error" as const },
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const answer = { status: response.status, headers: response.headers, text: await readText(response) };
    if (response.ok) return answer;
    throw toRefusal(answer);
  } catch (error) {
    if (error instanceof CommandFailure || signal?.aborted) throw error;
    const why = limit.aborted ? `did not answer within ${timeoutMs / 1000} s` : "could not be reached";
    throw new CommandFailure(`${new URL(at).origin} ${why}.`);
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxAnswerBytes) throw new CommandFailure("The server's answer is too long.");
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function toRefusal({ status, text }: ApiAnswer): ApiRefusal {
  const problem = readJson(text);
  const { code, detail, errors } = isJsonObject(problem) ? problem : {};
  const faults = (Array.isArray(errors) ? errors : []).filter(isJsonObject);
  const lines = faults.map((fault) => `\n  ${fault["param"]}: ${fault["detail"]}`).join("");
  const sentence = typeof detail === "string" ? detail : `The server answered with the status ${status}.`;
  return new ApiRefusal(sentence + lines, status, typeof code === "string" ? code : "", problem);
}

function readJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
