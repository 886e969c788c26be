/** Passes a call on to the instance that runs the reply, over a connection of its own. */
import { AppError, type ErrorCode, errorCodes, type FieldError } from "../../domain/errors.ts";
import { afterAnswerable } from "../../lib/deadline.ts";
import { readBounded } from "../../lib/http/bounded-text.ts";
import { createHttpClient, type HttpClient } from "../../lib/http/client.ts";
import { ConnectionError } from "../../lib/http/connection.ts";
import type { HttpResponse } from "../../lib/http/exchange.ts";
import { streamBody } from "./body-stream.ts";
import type { CallProofs } from "./call-proofs.ts";
import { callPath, endedStatus, type OtherInstances, proofHeader, type ReplyCall } from "./instances.ts";
import { isSameProof, PieceReader, proveHead } from "./proven-pieces.ts";

/** Shortened in tests. */
export interface PassingDeadlines {
  connectMs: number;
  /**
   * Between two checks of whether the other instance is there, while the response's head is awaited. A repeated message
   * may wait for its turn behind others, and must not lose its position.
   */
  checkMs: number;
  /** For the response's head to all other calls, which are answered immediately or refused. */
  headMs: number;
  /** Between two pieces of the body; the other instance sends a heartbeat every 10 s. */
  silenceMs: number;
}

export const passingDeadlines: PassingDeadlines = {
  connectMs: 2_000,
  checkMs: 5_000,
  headMs: 8_000,
  silenceMs: 25_000,
};

interface PassingOptions {
  proofs: CallProofs;
  getOwnUrl: () => string | null;
  deadlines?: Partial<PassingDeadlines>;
  tlsName: string | null;
}

export function createPassing({ proofs, getOwnUrl, tlsName, ...options }: PassingOptions): OtherInstances & Disposable {
  const { connectMs, checkMs, headMs, silenceMs } = { ...passingDeadlines, ...options.deadlines };
  // No connection is kept: a new one shows immediately whether the other machine is there.
  const http = createHttpClient({ connectTimeoutMs: connectMs, maxIdle: 0, tlsNameOfAddresses: tlsName });
  return {
    async pass(url, call, signal) {
      if (url === null) throw unanswered(new Error("its address is not known yet"));
      // One that was here before, and whose tickets are still to be released.
      if (url === getOwnUrl()) throw unanswered(new Error(`${url} is this instance`));
      const gone = new AbortController();
      const either = AbortSignal.any([signal, gone.signal]);
      const giveUp = () => gone.abort(new Error(`${url} has fallen silent`));
      const watching = setInterval(async () => {
        if (await hangs(http, url, connectMs)) giveUp();
      }, checkMs);
      const cancel = call.action === "attach" ? () => {} : afterAnswerable(headMs, giveUp);
      try {
        const { response, pieces } = await send(http, proofs, { url, call, signal: either });
        return await read(response, pieces, silenceMs, either);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof AppError ? error : unanswered(error);
      } finally {
        clearInterval(watching);
        cancel();
      }
    },
    [Symbol.dispose]: () => http.close(),
  };
}

/**
 * Whether the machine at the address is gone, or its server does nothing any more. Where connections are refused, or reset
 * because they came as the last ones, a server is stopping and still ends what it has begun: if it had died, the
 * connection to it would have broken.
 */
async function hangs(http: HttpClient, url: string, limitMs: number): Promise<boolean> {
  const target = http.prepare({ url: new URL("/healthz", url), method: "GET", headers: [] });
  const late = new AbortController();
  const cancel = afterAnswerable(limitMs, () => late.abort());
  try {
    (await http.send(target, "", late.signal)).body.cancel();
    return false;
  } catch (error) {
    return !(error instanceof ConnectionError && stoppingCodes.has(error.code));
  } finally {
    cancel();
  }
}

const stoppingCodes: ReadonlySet<string | undefined> = new Set(["ECONNREFUSED", "ECONNRESET"]);

interface Sending {
  url: string;
  call: ReplyCall;
  signal: AbortSignal;
}

interface Answer {
  response: HttpResponse;
  /** What its body comes in. */
  pieces: PieceReader;
}

/** Rejects unless the response's head comes from an instance. */
async function send(http: HttpClient, proofs: CallProofs, { url, call, signal }: Sending): Promise<Answer> {
  const address = url + callPath;
  const body = JSON.stringify(call);
  const proof = await proofs.make("POST", address, body);
  const headers: [string, string][] = [
    ["Content-Type", "application/json"],
    [proofHeader, proof],
  ];
  const response = await http.send(http.prepare({ url: new URL(address), method: "POST", headers }), body, signal);
  const key = await proofs.makeAnswerKey(proof);
  const expected = proveHead(key, response.status, response.headers.get("retry-after"));
  if (isSameProof(response.headers.get(proofHeader) ?? "", expected)) return { response, pieces: new PieceReader(key) };
  response.body.cancel();
  throw new Error(`what answers at ${url} (${response.status}) is not the instance: another key, clock or address`);
}

async function read(
  { status, headers, body }: HttpResponse,
  pieces: PieceReader,
  silenceMs: number,
  signal: AbortSignal,
): Promise<Response | null> {
  if (status === 200) return new Response(streamBody(body, pieces, silenceMs));
  const text = await readBounded(body, signal);
  if (status === 204) return new Response(null, { status });
  if (status === endedStatus) return null;
  const proven = pieces.take(Buffer.from(text).toString("latin1"));
  throw readProblem(String(proven), headers.get("retry-after"));
}

/** The other's problem as an error of our own, which gets our request id and links. */
function readProblem(text: string, retryAfter: string | undefined): AppError {
  const problem = JSON.parse(text) as { code: ErrorCode; detail: string; errors?: FieldError[] };
  if (!Object.hasOwn(errorCodes, problem.code)) throw new Error("the other instance answers with an unknown error");
  return new AppError(problem.code, problem.detail, {
    cause: new Error("reported by the instance that runs the reply"),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }),
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
  });
}

function unanswered(cause: unknown): AppError {
  const sentence = "This reply runs on another server, which does not answer. Try again in a moment.";
  return new AppError("unavailable", sentence, { cause, retryAfterSeconds: 1 });
}
