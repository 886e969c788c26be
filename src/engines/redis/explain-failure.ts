/** Finds out why Redis could not be used: the driver reports every refusal as a closed connection. */
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { isUntrustedCertificate } from "../../lib/certificate.ts";
import { addressOf, type RedisAddress } from "./address.ts";
import { closedReason, RedisFailure } from "./connection.ts";

const patienceMs = 2000;

/**
 * The rest of a sentence that begins with the server's address, without anything secret. If the failure itself does
 * not show it, asks the server once more, for at most 2 s.
 */
export async function explainFailure(url: string, failure: unknown): Promise<string> {
  const reason = failure instanceof RedisFailure ? failure.reason : closedReason;
  // One capitalised word is Redis' own answer; this one has its meaning in the words after it.
  if (/^[A-Z]+$/.test(reason) && reason !== "ERR") return explainRefusal(reason);
  return await greet(addressOf(url), greetingOf(url));
}

const refusals: Readonly<Record<string, string>> = {
  WRONGPASS: "refuses the user name or password in it.",
  NOAUTH: "requires a password, and it has none.",
  NOPERM:
    "does not allow its user all of PING, INFO, SCRIPT, EVAL, EVALSHA, GET, SET, DEL and TIME on the keys companiond:*.",
  DENIED: "is in protected mode: it accepts connections from its own machine alone until it has a password.",
  OOM: "is out of memory and refuses writes.",
  READONLY: "is a replica, which takes no writes. Name its primary server.",
  LOADING: "is still loading its data. Try again shortly.",
  MISCONF: "refuses writes, because it cannot save its data to disk.",
  NOPROTO: "is too old. It must be Redis 7 or later, or Valkey.",
};

function explainRefusal(word: string): string {
  return refusals[word] ?? `refuses to be used (${word}).`;
}

/** What the driver sends first, and the choice of a database. */
function greetingOf(url: string): string {
  const { username, password, pathname } = new URL(url);
  const user = username === "" ? "default" : decodeURIComponent(username);
  const hello = password === "" ? ["HELLO", "3"] : ["HELLO", "3", "AUTH", user, decodeURIComponent(password)];
  const database = pathname.slice(1);
  return encode(hello) + (database === "" ? "" : encode(["SELECT", database])) + encode(["PING"]);
}

function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}

/** Sends the greeting, and returns its outcome. */
function greet({ host, port, isTls }: RedisAddress, greeting: string): Promise<string> {
  return new Promise((resolve) => {
    let isConnected = false;
    let answer = "";
    let socket: Socket | null = null;
    const finish = (sentence: string) => {
      clearTimeout(timer);
      socket?.destroy();
      resolve(sentence);
    };
    const timer = setTimeout(
      () => finish(isConnected ? silent(isTls) : "cannot be reached: it does not answer."),
      patienceMs,
    );
    const begin = () => socket?.write(greeting);
    socket = isTls
      ? connectTls({ host, port, ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }) }, begin)
      : connectPlain({ host, port }, begin);
    socket.on("connect", () => {
      isConnected = true;
    });
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      const refusal = /^-([A-Z]+)/m.exec(answer)?.[1];
      if (refusal !== undefined) finish(explainAnswer(refusal, answer));
      else if (!/^[-+%*$:_#,]/.test(answer)) finish("is not Redis: something else listens there.");
      else if (answer.includes("+PONG")) finish("did not answer in time. Try again.");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => finish(explainError(error.code ?? "", isConnected, isTls)));
    socket.on("close", () => finish(explainClose(isTls)));
  });
}

function silent(isTls: boolean): string {
  return isTls
    ? "does not speak TLS: without, its URL begins with redis://."
    : "accepts connections, but does not answer.";
}

function explainClose(isTls: boolean): string {
  return `closes the connection without an answer${isTls ? "." : "; does it expect TLS (rediss://)?"}`;
}

/** `ERR` alone explains nothing; its text may be shown where it is one of Redis' own. */
function explainAnswer(word: string, answer: string): string {
  if (word !== "ERR") return explainRefusal(word);
  if (/unknown command/i.test(answer)) return explainRefusal("NOPROTO");
  if (/DB index/i.test(answer)) return "has no database of the number at the end of it.";
  if (/AUTH.*without any password/i.test(answer)) return "has no password, but there is one in it.";
  return explainRefusal(word);
}

function explainError(code: string, isConnected: boolean, isTls: boolean): string {
  if (code === "ECONNREFUSED") return "cannot be reached: nothing listens there.";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "cannot be reached: its name has no address.";
  if (!isConnected) return `cannot be reached (${code}).`;
  if (!isTls) return explainClose(isTls);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "has a TLS certificate for another name.";
  if (!isUntrustedCertificate(code)) return `fails in the TLS handshake (${code}).`;
  return `has a TLS certificate that is not trusted (${code}). NODE_EXTRA_CA_CERTS names the file of a private authority.`;
}
