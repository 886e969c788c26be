/** Two instances without anything else: one passes calls on, and at the other a function of the test answers. */

import type { OpenedCall } from "../../src/api/instances/index.ts";
import { type AnswerCall, createInstanceEndpoint } from "../../src/api/instances/index.ts";
import type { Instances, ReplyCall } from "../../src/core/instances/instances.ts";
import { type InstancesOptions, openInstances } from "../../src/core/instances/open-instances.ts";
import type { PassingDeadlines } from "../../src/core/instances/passing.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { createSealing } from "../../src/lib/sealing.ts";
import { createCapturedLog } from "./captured-log.ts";

export interface InstancePair extends AsyncDisposable {
  readonly here: Instances;
  readonly there: Instances;
  /** Of `there`. */
  readonly url: string;
  /** Requests that `there` has, as it saw them. */
  readonly requests: Request[];
  answer: AnswerCall;
  /** The other instance takes no more connections. */
  refuse(): void;
  /** Ends the other instance with all its connections. */
  kill(): Promise<void>;
}

export const oneKey = new Uint8Array(32).fill(7);

export async function openLoneInstance(
  key: Uint8Array<ArrayBuffer>,
  options: Partial<InstancesOptions> = {},
): Promise<Instances> {
  const sealing = await createSealing(key);
  const parts = { sealing, clock: systemClock, ids: systemIds, log: createCapturedLog() };
  return openInstances({ ...parts, publish: async () => {}, ...options });
}

export async function openInstancePair(deadlines: Partial<PassingDeadlines> = {}): Promise<InstancePair> {
  const here = await openLoneInstance(oneKey, { deadlines });
  const there = await openLoneInstance(oneKey);
  const settings = { publicUrl: null, trustedProxies: 0, isTls: false };
  const services = { instances: there, settings, ids: systemIds, log: createCapturedLog() };
  const endpoint = createInstanceEndpoint(services as never, (...call) => pair.answer(...call));
  const requests: Request[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      requests.push(request);
      const opened: OpenedCall | null = await endpoint.open(request);
      return opened === null ? new Response(null, { status: 404 }) : opened.respond();
    },
  });
  const url = server.url.origin;
  await there.announce(() => url);
  const pair: InstancePair = {
    here,
    there,
    url,
    requests,
    answer: async () => null,
    refuse: () => void server.stop(),
    kill: () => server.stop(true),
    async [Symbol.asyncDispose]() {
      here.close();
      there.close();
      await server.stop(true);
    },
  };
  return pair;
}

export function replyCall(fields: Partial<ReplyCall> = {}): ReplyCall {
  const key = { companionId: crypto.randomUUID(), sessionId: crypto.randomUUID(), visitorId: null };
  const messageId = crypto.randomUUID();
  const call = { action: "attach", key, messageId, message: "Hello?", resume: true, offset: 0, sources: null } as const;
  return { ...call, hasTools: false, ...fields };
}
