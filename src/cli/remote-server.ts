/** Calls of a running server's management API, for commands with `--url` and `--api-key-file`. */
import { AppError, type ErrorCode, errorCodes, type FieldError } from "../domain/errors.ts";
import { isJsonObject, type JsonValue } from "../domain/json.ts";
import { codeOf } from "../lib/error-code.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { type ActionInput, CommandFailure, Misuse, type OptionSpec } from "./command.ts";
import { openNamedFile } from "./named-file.ts";
import { file, free } from "./value.ts";

/** A set may take a while; a server that has not answered by then will not. */
const limitMs = 5 * 60_000;
const pageSize = 100;

export const remoteOptions: Readonly<Record<string, OptionSpec>> = {
  account: { value: free("email"), about: "The account, in the data directory of this machine." },
  url: { value: free("url"), about: "A server, instead of the data directory." },
  "api-key-file": { value: file, about: "With --url: a file that holds an API key." },
};

export interface RemoteCall {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonValue | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RemoteServer {
  /** The response's JSON, null without any. Throws `AppError` as the server answers, and `CommandFailure` if it does not. */
  call(method: string, path: string, call?: RemoteCall): Promise<JsonValue>;
  /** All pages of a list. */
  list(path: string, query?: Readonly<Record<string, string>>): Promise<JsonValue[]>;
}

/** Null for a command on the data directory. Throws `Misuse` unless it is clear which of both is meant. */
export async function openRemote({ args, io }: Pick<ActionInput, "args" | "io">): Promise<RemoteServer | null> {
  const url = args.find("url");
  const keyFile = args.find("api-key-file");
  if ((url === undefined) === (args.find("account") === undefined)) throw new Misuse("give either --account or --url.");
  if ((url === undefined) !== (keyFile === undefined)) throw new Misuse("--url and --api-key-file belong together.");
  if (url === undefined || keyFile === undefined) return null;
  const base = URL.parse(url);
  if (base === null || !/^https?:$/.test(base.protocol)) throw new Misuse("--url must be an http or https URL.");
  if (base.protocol === "http:" && !isLoopbackHost(base.hostname)) {
    await io.writeError("companiond: warning: without https, others on the way can read the API key.\n");
  }
  const key = new TextDecoder().decode(openNamedFile(io.user, keyFile).read()).trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandFailure(`${keyFile}: has no API key.`);
  return connect(base.href.replace(/\/+$/, ""), key);
}

function connect(base: string, key: string): RemoteServer {
  async function call(method: string, path: string, { query = {}, body, headers = {} }: RemoteCall = {}) {
    const search = new URLSearchParams(query).toString();
    const isForm = body instanceof FormData;
    const response = await fetch(`${base}${path}${search === "" ? "" : `?${search}`}`, {
      method,
      redirect: "error",
      signal: AbortSignal.timeout(limitMs),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new CommandFailure(`${base} cannot be reached${codeOf(error) === "" ? "" : ` (${codeOf(error)})`}.`);
    });
    const text = await response.text();
    const json = parse(text);
    if (!response.ok) throw toError(base, response.status, json);
    if (json === undefined && text !== "") throw new CommandFailure(`${base} does not answer as companiond does.`);
    return json ?? null;
  }

  return {
    call,
    async list(path, query = {}) {
      const items: JsonValue[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const part = { ...query, limit: String(pageSize), ...(cursor === "" ? {} : { cursor }) };
        const page: JsonValue = await call("GET", path, { query: part });
        if (!isJsonObject(page) || !Array.isArray(page["data"])) throw new CommandFailure(`${base}: not a list.`);
        items.push(...page["data"]);
        const next: JsonValue | undefined = page["next_cursor"];
        cursor = typeof next === "string" ? next : null;
      }
      return items;
    },
  };
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A problem as the server threw it. */
function toError(base: string, status: number, problem: JsonValue | undefined): Error {
  const { code, detail, errors } = isJsonObject(problem) ? problem : {};
  if (typeof code !== "string" || !Object.hasOwn(errorCodes, code) || typeof detail !== "string") {
    return new CommandFailure(`${base} answers with status ${status}.`);
  }
  const fields = Array.isArray(errors) ? (errors as unknown as FieldError[]) : undefined;
  return new AppError(code as ErrorCode, detail, fields === undefined ? {} : { errors: fields });
}
