/**
 * `bun bench/live.ts [LISTENERS]`: what idle listeners of `/live` cost a server: memory each, and its share of a core, beside
 * a bare server of the same run that only sends the pings.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServices } from "../src/app/services.ts";
import { loadConfig } from "../src/config/config.ts";
import { newCompanionSettings } from "../src/domain/companion.ts";
import { makeEmbedToken } from "../src/domain/credentials.ts";
import { handoffDefaults } from "../src/domain/handoff.ts";
import { systemIds } from "../src/lib/ids.ts";
import { startServer } from "../src/server/server.ts";
import { readLines } from "../test/support/line-process.ts";
import { testContext } from "../test/support/test-context.ts";
import { cpuSeconds, pinned, residentKiB, serverCore } from "./load/processes.ts";

const settleMs = 5_000;
const idleMs = 40_000;
/** Of one listener each. */
const sessionOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

async function serve(listeners: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-bench-live-"));
  const config = loadConfig({
    flags: {},
    environment: {
      ...{ COMPANIOND_DATA_DIR: dataDir, PORT: "0", COMPANIOND_LOG: "warn", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" },
      ...{ COMPANIOND_LIVE_PER_IP: "1000000", COMPANIOND_LIVE_RATE_PER_IP: "1000000" },
    },
  });
  const services = await openServices(config);
  const { store, people, coordination } = services;
  const account = { id: systemIds.uuid(), email: "bench@example.com", plan: "free", role: "owner" } as const;
  await store.accounts.create({ ...account, passwordHash: null }, testContext());
  const token = makeEmbedToken(systemIds.secret);
  const texts = { waitingText: null, personText: null, unavailableText: null };
  const handoff = { ...handoffDefaults, ...texts, mode: "asked", when: "always", hours: null } as const;
  const companion = await store.companions.create(
    account.id,
    {
      ...{ ...newCompanionSettings("Ada"), handoff: { ...handoff, waitSeconds: 900 } },
      ...{ id: systemIds.uuid(), createdByKeyId: null, embedToken: { id: systemIds.uuid(), token } },
    },
    testContext(),
  );
  for (let number = 0; number < listeners; number++) {
    const key = { companionId: companion.id, sessionId: sessionOf(number), visitorId: null };
    const arrivalMark = coordination.arrivals.mark();
    await people.ask({ companion, key, visitor: null, arrivalMark, requestId: "bench" }, "visitor", null);
  }
  const server = startServer(services, { host: "127.0.0.1", port: 0 });
  console.log(JSON.stringify({ port: server.port, token, dataDir }));
}

/** What the pings alone cost: as many streams, a tenth of which is sent one each second. */
function serveBare(): void {
  const streams: ReadableStreamDirectController[] = [];
  const server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0, idleTimeout: 60 },
    fetch: () =>
      new Response(
        new ReadableStream({
          type: "direct",
          pull(controller) {
            streams.push(controller);
            controller.write("event: state\n\n");
            controller.flush();
            return new Promise<void>(() => {});
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      ),
  });
  let second = 0;
  setInterval(() => {
    second++;
    for (let at = second % 10; at < streams.length; at += 10) {
      streams[at]?.write(": ping\n\n");
      streams[at]?.flush();
    }
  }, 1_000);
  console.log(JSON.stringify({ port: server.port, token: "bare", dataDir: null }));
}

/** Resolves with how many bytes have arrived since, when asked. */
async function listen(port: number, path: string): Promise<() => number> {
  const begun = Promise.withResolvers<void>();
  let bytes = 0;
  await Bun.connect({
    ...{ hostname: "127.0.0.1", port },
    socket: {
      open: (socket) =>
        void socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`),
      data(_, data) {
        bytes += data.byteLength;
        if (data.includes("event: state")) begun.resolve();
      },
      close: () => begun.reject(new Error("a listener was ended")),
    },
  });
  await begun.promise;
  return () => bytes;
}

async function shareOfCore(pid: number, durationMs: number): Promise<number> {
  const from = { cpu: cpuSeconds(pid), atMs: performance.now() };
  await Bun.sleep(durationMs);
  return ((cpuSeconds(pid) - from.cpu) * 1000) / (performance.now() - from.atMs);
}

async function measure(role: "serve" | "bare", listeners: number): Promise<void> {
  const command = pinned(serverCore, [process.execPath, import.meta.path, role, String(listeners)]);
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", env: { PATH: process.env["PATH"] ?? "" } });
  const lines = readLines(child.stdout);
  const { port, token, dataDir } = JSON.parse((await lines.next()).value ?? "");
  const { pid } = child;
  try {
    const pathOf = (number: number) => `/api/embed/${token}/live?session_id=${sessionOf(number)}`;
    const warm = [await listen(port, pathOf(0))];
    await Bun.sleep(settleMs);
    const shareWithOne = await shareOfCore(pid, 20_000);
    const before = { kiB: residentKiB(pid), cpu: cpuSeconds(pid) };
    for (let at = 1; at < listeners; at += 50) {
      const group = Array.from({ length: Math.min(50, listeners - at) }, (_, more) => listen(port, pathOf(at + more)));
      warm.push(...(await Promise.all(group)));
    }
    const beginCpu = cpuSeconds(pid) - before.cpu;
    await Bun.sleep(settleMs);
    const openKiB = residentKiB(pid);
    const bytes = warm.map((read) => read());
    const share = await shareOfCore(pid, idleMs);
    const pings = warm.map((read, at) => read() - (bytes[at] ?? 0));
    console.log(
      JSON.stringify({
        server: role === "serve" ? "companiond" : "bare",
        listeners,
        kiBEach: Number(((residentKiB(pid) - before.kiB) / listeners).toFixed(1)),
        kiBEachAfterOpening: Number(((openKiB - before.kiB) / listeners).toFixed(1)),
        cpuMicrosToBegin: Math.round((beginCpu * 1e6) / listeners),
        percentOfCore: Number((share * 100).toFixed(2)),
        percentOfCoreWithOne: Number((shareWithOne * 100).toFixed(2)),
        pingBytesLeast: Math.min(...pings),
      }),
    );
  } finally {
    child.kill();
    await child.exited;
    if (dataDir !== null) rmSync(dataDir, { recursive: true, force: true });
  }
}

const [role, given] = process.argv.slice(2);
if (role === "serve") await serve(Number(given));
else if (role === "bare") serveBare();
else for (const server of ["serve", "bare"] as const) await measure(server, Number(role ?? 5_000));
