/** The composition root: the only file that knows which engine is behind which contract. */
import type { Config } from "../config/config.ts";
import { batchBodyLimits, createRateRules, webhookBodyLimits } from "../contracts/limiter/rules.ts";
import { createEventDelivery } from "../core/events/delivery.ts";
import { openInstances } from "../core/instances/open-instances.ts";
import { noMail } from "../core/mail/mail.ts";
import { measureCoordination, measureLimiter, measureStore } from "../core/metrics/measured-sockets.ts";
import { Measurements, watchEventLoop } from "../core/metrics/measurements.ts";
import { createUseRecorder } from "../core/metrics/use-recorder.ts";
import { createPeople } from "../core/people/create-people.ts";
import { createLiveHub } from "../core/people/live-hub.ts";
import { createAttempts } from "../core/sign-in/attempts.ts";
import { createToolbox } from "../core/tools/toolbox.ts";
import { createNamedReplies } from "../core/turns/named-replies.ts";
import { createOpenTurns } from "../core/turns/open-turns.ts";
import { createPromptMemory } from "../core/turns/prompt-memory.ts";
import { createReplyMemory } from "../core/turns/reply-memory.ts";
import { createReplyProbes } from "../core/turns/reply-probes.ts";
import { createChallenges } from "../core/visitors/challenge-maker.ts";
import { createVisitors } from "../core/visitors/verifier.ts";
import { createVoice } from "../core/voice/voice.ts";
import { createMemoryAnnouncements } from "../engines/memory/announcements.ts";
import { createErasureMarks } from "../engines/memory/coordination/erasure-marks.ts";
import { createMemoryCoordination } from "../engines/memory/coordination/memory.ts";
import { createMemoryLimiter } from "../engines/memory/limiter/memory.ts";
import { createOutgoingHttp } from "../engines/outgoing-http/outgoing-http.ts";
import { createBodyBudget } from "../http/body-budget.ts";
import { createHeartbeatTicker } from "../http/heartbeats.ts";
import { createSharedClock, systemClock } from "../lib/clock.ts";
import { closeOnFailure } from "../lib/close-on-failure.ts";
import { systemIds } from "../lib/ids.ts";
import { processLog } from "../lib/log.ts";
import { openWindows } from "./limiter.ts";
import { openKnowledge } from "./open-knowledge.ts";
import { openModels } from "./open-models.ts";
import type { OpenedServices, ServiceOverrides } from "./opened-services.ts";
import { createProbes } from "./probes.ts";
import { createSealedSecrets } from "./sealed-secrets.ts";
import { ownHostsOf, toSettings } from "./server-settings.ts";
import { storageOf, toOpenOptions } from "./storage.ts";
import { openVoiceProviders } from "./voice.ts";

export { openBackupStorage } from "./backup-storage.ts";
export { findUncopied, openStore, storageOf } from "./storage.ts";
export type { OpenedServices, ServiceOverrides };

/** Opens everything that the server needs; on failure, closes what it had opened. */
export async function openServices(config: Config, overrides: ServiceOverrides = {}): Promise<OpenedServices> {
  const ids = overrides.ids ?? systemIds;
  const log = overrides.log ?? processLog();
  const measurements = new Measurements();
  const erasures = createErasureMarks();
  const storage = storageOf(config);
  const lost = Promise.withResolvers<unknown>();
  const opened = await (overrides.storage?.(erasures) ??
    storage.open(toOpenOptions(config, overrides, { log, erasures, onLost: lost.resolve })));
  const { shared, store: uncounted } = opened;
  const clock = overrides.clock ?? (shared === null ? systemClock : createSharedClock(shared));
  const store = measureStore(uncounted, measurements);
  const ownLimiter = createMemoryLimiter({ clock });
  const memory = createMemoryCoordination({
    clock,
    arrivals: erasures,
    countMessages: (companionId, day) => store.turns.countDay(companionId, day),
    countVisitorMessages: (companionId, visitorId, day) => store.turns.countVisitorDay(companionId, visitorId, day),
    countVoiceSessions: (companionId, day) => store.voice.countDay(companionId, day),
  });
  const announcements = shared?.announcements ?? createMemoryAnnouncements();
  const sealing = createSealedSecrets({
    secretKey: config.secretKey,
    dataDir: config.dataDir,
    store,
    countOthers: shared === null ? null : () => shared.countOthers(),
  });
  await closeOnFailure(store, () => sealing.check());
  const models = openModels(config.llm, { log, clock, measurements, datesAfterMs: overrides.modelDatesAfterMs });
  const { llm, modelDates, providerHealth } = models;
  const voice = createVoice({ ...openVoiceProviders(config.voice), store, clock, ids, log });
  const windows = await closeOnFailure(store, () =>
    openWindows(config.redisUrl, { limiter: ownLimiter, signInFailures: memory.signInFailures, log }),
  );
  const coordination = measureCoordination(
    { ...memory, ...shared, signInFailures: windows.signInFailures },
    measurements,
  );
  const certificates = await closeOnFailure(store, async () => {
    if (config.server.acme === null) return null;
    // Loaded only here: a server without a domain must not pay for it.
    const { openCertificates } = await import("./certificates.ts");
    const parts = { dataDir: config.dataDir, texts: opened.certificateTexts, sealing };
    return await openCertificates(config.server.acme, parts, { duties: coordination.duties, clock, log, measurements });
  });
  const lifecycle = { isDraining: false };
  const webhookBodies = createBodyBudget(webhookBodyLimits);
  const replyMemory = createReplyMemory();
  const replies = createNamedReplies(replyMemory, overrides);
  const running = { lifecycle, voice, webhookBodies };
  measurements.probes.push(
    ...createReplyProbes(replies),
    ...models.probes,
    ...createProbes({ ...running, store: uncounted }, ownLimiter, config.dataDir, storage.sizes),
    ...(shared?.probes ?? []),
    ...windows.probes,
  );
  const stopWatchingEventLoop = watchEventLoop(measurements.eventLoopLagSeconds);
  const heartbeats = createHeartbeatTicker();
  const openTurns = createOpenTurns({
    perAddress: config.streamsPerIp,
    getChangeMark: () => store.companions.getChangeMark(),
    nowMs: () => clock.nowMs(),
    lookEveryMs: overrides.lookEveryMs,
  });
  const settings = toSettings(config);
  const base = { store, clock, ids, log, measurements, isShared: shared !== null };
  const knowledge = openKnowledge({
    ...{ ...base, embeddings: models.embeddings, ownHosts: ownHostsOf(config), duties: coordination.duties },
    knowledge: config.knowledge,
    prices: settings.prices,
  });
  const visitors = createVisitors({ store, sealing, clock, log });
  const outgoing = createOutgoingHttp({ allowed: config.privateTargets, ownHosts: ownHostsOf(config) });
  const toolbox = createToolbox({ store, log, sealing }, async () => {
    const { openToolEngines } = await import("./tool-engines.ts");
    return openToolEngines(outgoing, { clock, log });
  });
  const events = createEventDelivery({ ...base, outgoing, sealing, visitors });
  // Loaded only here: a server that sends no mail must not pay for it.
  const mail =
    config.mail && (await import("./mail.ts")).openMail(config.mail, { ...base, sealing }, settings.publicUrl);
  const live = createLiveHub({
    ...{ store: store.handoffs, announcements, clock, log, limits: config.live },
    getChangeMark: () => store.companions.getChangeMark(),
    lookEveryMs: overrides.lookEveryMs,
  });
  const people = createPeople({ ...base, announcements, live, coordination, sealing, visitors, mail: mail ?? noMail });
  const uses = createUseRecorder({ store, clock, log });
  const publish = shared === null ? null : (url: string) => shared.announce(url);
  const instances = openInstances({
    ...{ sealing, clock, ids, log, publish },
    tlsName: config.server.acme?.domains[0] ?? null,
  });
  measurements.probes.push({
    name: "companiond_live_streams",
    help: "Open streams of those who listen to conversations, and polls that wait.",
    read: () => live.size,
  });
  let closing: Promise<void> | null = null;
  async function closeOnce() {
    heartbeats.stop();
    openTurns.stop();
    live.stop();
    stopWatchingEventLoop();
    windows.limiter.close();
    windows.close();
    modelDates.stop();
    llm.close();
    instances.close();
    await certificates?.stop();
    // Closed before the store, which their last work needs.
    await Promise.all([people.close(), events.close(), mail?.close()]);
    await knowledge.close();
    await voice.close();
    await toolbox.close();
    await uses.close();
    await store.close();
  }

  return {
    certificates,
    lost: lost.promise,
    settings,
    store,
    coordination,
    announcements,
    limiter: measureLimiter(windows.limiter, measurements),
    rules: createRateRules(config.rates),
    openTurns,
    replies,
    replyMemory,
    promptMemory: createPromptMemory(),
    llm,
    providerHealth,
    modelDates,
    voice,
    live,
    people,
    uses,
    sealing,
    visitors,
    challenges: createChallenges({ store, sealing, clock, ids }),
    instances,
    outgoing,
    events,
    mail: mail ?? noMail,
    signInAttempts: createAttempts({ failures: coordination.signInFailures, clock, pace: overrides.signInPace }),
    webhookBodies,
    batchBodies: createBodyBudget(batchBodyLimits),
    ...knowledge.services,
    toolbox,
    heartbeats,
    measurements,
    selfChecks: [],
    serverReports: { check: null, modelTests: new Set() },
    clock,
    ids,
    log,
    lifecycle,
    close() {
      closing ??= closeOnce();
      return closing;
    },
  };
}
