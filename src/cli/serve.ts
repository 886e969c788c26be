/** `companiond serve`: runs the server from start to shutdown. */
import { ensureDemo } from "../app/demo.ts";
import { type OpenedServices, openServices, storageOf } from "../app/services.ts";
import { type Config, readNetworkVariables } from "../config/config.ts";
import { buildInfo } from "../lib/build-info.ts";
import type { Certificate } from "../lib/certificate.ts";
import { closeOnFailure } from "../lib/close-on-failure.ts";
import { openLog } from "../lib/log.ts";
import { type BackupPlan, startBackups } from "../server/jobs/backups.ts";
import { ListenFailure } from "../server/listener.ts";
import { type RunningServer, startServer } from "../server/server.ts";
import { loadCertificate, reloadCertificate } from "./certificate.ts";
import { type ActionInput, CommandFailure, file, free, SettingFailure, singleCommand } from "./command.ts";
import type { AskedServer } from "./control-socket/answers.ts";
import { type ControlSocket, openControlSocket, removeAbandoned } from "./control-socket/control-socket.ts";
import { findWeakness, makeDataDir } from "./data-rights.ts";
import { nameDatabase } from "./database-name.ts";
import type { Domains, DomainsOptions } from "./domains.ts";
import { describeSettings } from "./help.ts";
import { offerSetup } from "./one-time-link.ts";
import { needsLowPorts } from "./port-right.ts";
import type { ProcessUser } from "./process-user.ts";
import { describeStart, type StartFacts, toReachable } from "./start-message.ts";
import { isJournal } from "./systemd/journal.ts";
import { openSupervisor } from "./systemd/supervisor.ts";
import {
  describeRefusal,
  describeUnpricedDefault,
  isDefaultUnpriced,
  judgeDemo,
  lacksPublicUrl,
  listIdlePrices,
  modelSettings,
  warnIfUnconfined,
  withoutPublicUrl,
} from "./warnings.ts";

const drainGraceMs = 30_000;
/** How long before the server stops accepting connections `/readyz` warns proxies. */
const proxyNoticeMs = 500;
/** How long the connections of a server that has lost its disk may take to close. */
const abandonMs = 2_000;
/** How long writing the last log lines may take. */
const lastLinesMs = 2_000;

export const serveCommand = singleCommand(
  {
    name: "serve",
    about: "Run the server until SIGTERM or SIGINT; open replies then have 30 s to finish.",
    data: "makes",
    opensAsCaller: true,
    options: {
      host: { value: free("address"), about: "The address to listen on (127.0.0.1)." },
      port: { value: free("port"), about: "The port to listen on (3000); 0 takes a free one." },
      domain: { value: free("name"), about: "Serve HTTPS under this name, with a certificate obtained by ACME." },
      demo: { about: "Create a demo companion to chat with; without a language model, the built-in demo replies." },
      "tls-cert": { value: file, about: "Serve HTTPS with this certificate chain (PEM)." },
      "tls-key": { value: file, about: "The certificate's private key (PEM)." },
    },
    hasLog: true,
    tellsIdle: true,
    run: serve,
  },
  describeSettings,
);

async function serve(input: ActionInput): Promise<null> {
  const { io, isJson } = input;
  const stopped = io.takeStopSignal();
  const config = input.loadConfig();
  const demo = judgeDemo(config);
  if (demo === "refused") throw new SettingFailure(describeRefusal(config));
  const certificate = loadCertificate(config, io.user.forFile);
  const { log, flush } = openLog({
    level: config.log.level,
    format: io.isTerminal && !isJson ? "text" : "json",
    // With --json, standard output carries the JSON value only, so the log goes to standard error.
    write: (lines) => (isJson ? io.writeError(lines) : io.writeOut(lines)),
    hasPriorities: isJournal(isJson ? 2 : 1, config.supervisor.journalStream),
  });
  const supervisor = await openSupervisor(config.supervisor, log);
  let controlSocket: ControlSocket | null = null;
  const dataLock = storageOf(config).lock();
  try {
    if (config.database !== null) makeDataDir(config.dataDir);
    const weakness = findWeakness(config.dataDir);
    if (weakness !== null) log.warn("the data directory is unsafe", { ...weakness });
    for (const problem of config.warnings) log.warn("a variable has no effect", { problem });
    if (demo === "behind_proxy") log.warn("visitors are answered by the built-in demo", { set: modelSettings });
    supervisor.starting();
    const services = await openServices(config);
    // An unexpected error must end at most one request, never the server.
    io.onDefect((error) => log.error("defect", { error, count: ++services.measurements.defects }));
    const demoToken = config.isDemo
      ? await closeOnFailure(services, () =>
          services.coordination.duties.exclude("demo", () => ensureDemo(services.store, input.ids, input.audit)),
        )
      : null;
    const certificates = services.certificates;
    const tls = certificates === null ? certificate : (certificates.current ?? "awaited");
    // Before the ports open, so that between them and the end of root's rights nothing waits.
    const openDomains =
      certificates === null ? null : await loadDomains({ config, services, certificates, user: io.user });
    const server = await closeOnFailure(services, () => listen(services, config, { tls, user: io.user }));
    const domains = openDomains?.(server);
    // The ports are open: nothing that comes in through them meets the rights of root.
    io.user.settle(needsLowPorts(config));
    if (io.user.became !== null) log.info("running as the owner of the data directory", { user: io.user.became });
    const backups = startBackups(services, toBackupPlan(config, input));
    // A server at a terminal ends with it on SIGHUP; for any other, SIGHUP cannot mean a hang-up.
    if (certificates !== null) io.onReload(() => void supervisor.reload(async () => certificates.lookAgain()));
    else if (certificate !== null || !io.isTerminal) {
      io.onReload(() => void supervisor.reload(() => reloadCertificate(config, server, log)));
    }
    controlSocket = await openLocalSocket({ config, services, server });
    const setup = await offerSetup(services, {
      baseUrl: config.publicUrl ?? toReachable(server.url),
      dataDir: config.dataDir,
      isShown: io.isTerminal && !isJson,
    });
    if (lacksPublicUrl(config)) log.warn(`COMPANIOND_PUBLIC_URL is not set: ${withoutPublicUrl}`);
    warnIfUnconfined(log);
    const idlePrices = listIdlePrices(config);
    if (idlePrices.length > 0) log.warn("prices of models that no provider serves", { prices: idlePrices });
    if (isDefaultUnpriced(config) && (await services.store.spending.hasStopBudgets())) {
      log.error("the default model has no price", describeUnpricedDefault(config));
    }
    log.info("listening", {
      url: server.url,
      ...(server.metricsUrl === null ? {} : { metricsUrl: server.metricsUrl }),
      version: buildInfo.version,
      commit: buildInfo.commit,
      dataDir: config.dataDir,
      ...(config.database === null ? {} : { database: nameDatabase(config) }),
      llm: services.llm.name,
    });
    if (setup?.file)
      log.info("no one can sign in to the dashboard yet: open the one-time link in this file", { file: setup.file });
    // Flush the log now, so that it does not interrupt the message.
    flush();
    supervisor.serving({
      describe: () => `Serving ${config.publicUrl ?? server.url}, ${countReplies(services)}`,
      check: () => services.store.check(),
    });
    await announce(input, config, server, {
      ...{ llmName: services.llm.name, demoToken, setupLink: setup?.link ?? null },
      isAwaited: certificates !== null && certificates.current === null,
    });

    const signal = await Promise.race([stopped, services.lost.then(() => null)]);
    if (signal === null) throw await abandon(services, server);
    log.info("stopping", { signal, graceMs: drainGraceMs });
    supervisor.stopping(`Stopping, ${countReplies(services)}`);
    if (io.isTerminal) await io.writeError("Waiting for open replies to finish. Press Ctrl+C again to stop now.\n");
    await backups.stop();
    // Without a proxy, nothing polls `/readyz`.
    await server.drain(drainGraceMs, config.server.trustProxy > 0 ? proxyNoticeMs : 0);
    await domains?.close();
    log.info("stopped");
    return null;
  } finally {
    await controlSocket?.close();
    dataLock.release();
    flush();
    // A stalled reader of the log must not delay the exit.
    await Promise.race([Promise.all([io.writeOut(""), io.writeError("")]), Bun.sleep(lastLinesMs)]);
  }
}

/** Ends without waiting for replies: none of them can be kept. */
async function abandon({ lost }: OpenedServices, server: RunningServer): Promise<CommandFailure> {
  await Promise.race([server.drain(0), Bun.sleep(abandonMs)]);
  const reason = await lost;
  return new CommandFailure(
    `The disk did not confirm what was written (${reason instanceof Error ? reason.message : reason}), so that it is ` +
      "unknown what is on it. A new start reads what is really there. Examine the disk and the system's log first.",
  );
}

function toBackupPlan({ backup: { storage, ...backup }, dataDir }: Config, { io }: ActionInput): BackupPlan {
  const network = readNetworkVariables(io.environment);
  return { ...backup, dataDir, upload: storage === null ? null : { storage, network } };
}

async function loadDomains(options: Omit<DomainsOptions, "server">): Promise<(server: RunningServer) => Domains> {
  const { serveDomains } = await import("./domains.ts");
  return (server) => serveDomains({ ...options, server });
}

/** Only the lock's holder opens it; servers that share a database share no lock, so each has a name of its own. */
async function openLocalSocket(asked: Omit<AskedServer, "startedMs">): Promise<ControlSocket | null> {
  const { dataDir, database } = asked.config;
  const { clock, ids, log } = asked.services;
  const startedMs = clock.nowMs();
  if (database !== null) await removeAbandoned(dataDir, startedMs);
  const id = database === null ? null : ids.uuid().slice(-8);
  const makeAnswers = async () => (await import("./control-socket/answers.ts")).createAnswers({ ...asked, startedMs });
  asked.services.serverReports.check = async () => await (await makeAnswers()).check();
  return openControlSocket({ dataDir, id, log, makeAnswers });
}

function countReplies({ openTurns: { size } }: OpenedServices): string {
  return size === 1 ? "1 open reply" : `${size} open replies`;
}

async function announce(
  { io, isJson }: ActionInput,
  config: Config,
  server: RunningServer,
  facts: Pick<StartFacts, "llmName" | "demoToken" | "setupLink" | "isAwaited">,
): Promise<void> {
  if (isJson) {
    await io.writeOut(`${JSON.stringify({ url: server.url, port: server.port, demo_embed_token: facts.demoToken })}\n`);
    return;
  }
  const url = config.publicUrl ?? server.url;
  // The certificate is for the name, wherever it listens.
  const urls = { url, listeningUrl: config.server.acme === null ? server.url : url };
  if (io.isTerminal) await io.writeOut(`${describeStart({ ...urls, ...facts })}\n`);
  // Not in the log, which must not contain embed tokens and has standard output to itself. The set-up link is in its
  // file.
  else if (facts.demoToken !== null) await io.writeError(`${describeStart({ ...urls, ...facts, setupLink: null })}\n`);
}

async function listen(
  services: OpenedServices,
  { server: { host, port, acme }, metrics, instanceUrl }: Config,
  { tls, user }: { tls: Certificate | "awaited" | null; user: ProcessUser },
): Promise<RunningServer> {
  try {
    const options = { host, port, metricsPort: metrics.port, instanceUrl, ...(tls === null ? {} : { tls }) };
    // Ports below 1024 may need it.
    return user.asCaller(() => startServer(services, options));
  } catch (error) {
    if (!(error instanceof ListenFailure)) throw error;
    const { explainListenFailure } = await import("./listen-failure.ts");
    const { wrong, advice } = await explainListenFailure({
      ...{ host: error.host, port: error.port, code: error.code, message: error.message },
      ...(acme !== null && error.port === port ? { purpose: "https" as const } : {}),
    });
    throw new CommandFailure(`${wrong} ${advice}`);
  }
}
