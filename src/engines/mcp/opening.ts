/** Finds out which protocol a server speaks, and begins a session where it is one with sessions. */
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import type { Endpoint } from "./endpoint.ts";
import { failReply, failures } from "./failures.ts";
import {
  errorCodes,
  type Failure,
  initialization,
  initialized,
  isTrouble,
  type Protocol,
  type Reply,
  sessionVersions,
  stateless,
  statelessVersion,
} from "./messages.ts";

export type Opening =
  | { readonly kind: "open"; readonly protocol: Protocol }
  | { readonly kind: "failed"; readonly failure: Failure };

/**
 * `server/discover` changes nothing and exists in the stateless protocol alone, where `tools/list` would be answered by
 * some servers of the older ones too. Rejects with the signal's reason.
 */
export async function openProtocol(endpoint: Endpoint, signal: AbortSignal): Promise<Opening> {
  const reply = await endpoint.request({ method: "server/discover", params: {} }, stateless, signal);
  const verdict = judgeDiscovery(reply);
  if (verdict === "stateless") return { kind: "open", protocol: stateless };
  return verdict === "session" ? await initialize(endpoint, signal) : { kind: "failed", failure: verdict };
}

/** What is no sign of the stateless protocol, and no sign of trouble either, is one of the older ones. */
function judgeDiscovery(reply: Reply): "stateless" | "session" | Failure {
  if (reply.kind === "result") return chooseVersion(reply.result["supportedVersions"]);
  if (reply.kind === "failed" || isTrouble(reply.status)) return failReply(reply);
  if (reply.kind === "status" || reply.code !== errorCodes.unsupportedVersion) return "session";
  const choice = chooseVersion(isJsonObject(reply.data) ? reply.data["supported"] : undefined);
  // It has just refused that one.
  return choice === "stateless" ? failures.version : choice;
}

function chooseVersion(supported: JsonValue | undefined): "stateless" | "session" | Failure {
  if (!Array.isArray(supported)) return "session";
  if (supported.includes(statelessVersion)) return "stateless";
  return sessionVersions.some((version) => supported.includes(version)) ? "session" : failures.version;
}

async function initialize(endpoint: Endpoint, signal: AbortSignal): Promise<Opening> {
  const reply = await endpoint.request(initialization, null, signal);
  if (reply.kind !== "result") return { kind: "failed", failure: failReply(reply) };
  const { result, sessionId } = reply;
  const version = result["protocolVersion"];
  if (typeof version !== "string" || !sessionVersions.includes(version)) {
    return { kind: "failed", failure: failures.version };
  }
  if (sessionId !== null && !/^[\x21-\x7e]{1,1024}$/.test(sessionId)) {
    return { kind: "failed", failure: failures.garbled };
  }
  const protocol: Protocol = { kind: "session", version, sessionId };
  const status = await endpoint.notify(initialized, protocol, signal);
  if (status === null) return { kind: "failed", failure: failures.cut };
  return status < 300 ? { kind: "open", protocol } : { kind: "failed", failure: failReply({ kind: "status", status }) };
}
