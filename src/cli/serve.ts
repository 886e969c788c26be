/** `companiond serve`: the server, from start to drained. */
import { readFile } from "node:fs/promises";
import { buildInfo } from "../build-info.ts";
import type { Config } from "../config.ts";
import { type Certificate, readCertificateExpiry } from "../lib/certificate.ts";
import { openLog } from "../lib/log.ts";
import { ListenFailure } from "../listener.ts";
import { type RunningServer, startServer } from "../server.ts";
import { type OpenedServices, openServices } from "../services.ts";
import { type ActionInput, type Command, CommandFailure } from "./command.ts";
import { ensureDemo } from "./demo.ts";
import { describeSettings } from "./settings-help.ts";
import { describeStart } from "./start-message.ts";

const drainGraceMs = 30_000;

export const serveCommand: Command = {
  name: "serve",
  about: "Serve companions until stopped.",
  actions: [
    {
      name: "",
      about: "Serve companions until SIGTERM or SIGINT; open replies then get 30 s to finish.",
      options: {
        host: { value: "H", about: "The address to listen on (127.0.0.1)." },
        port: { value: "N", about: "The port to listen on (3000); 0 takes a free one." },
        demo: { about: "Keep a demo companion that can be chatted with at once." },
        "tls-cert": { value: "F", about: "Serve HTTPS with this certificate chain (PEM)." },
        "tls-key": { value: "F", about: "The certificate's private key (PEM)." },
      },
      async run(input) {
        await serve(input);
        return null;
      },
    },
  ],
  notes: describeSettings(),
};

async function serve(input: ActionInput): Promise<void> {
  const { io, isJson } = input;
  const stopped = io.takeStopSignal();
  const config = input.loadConfig();
  const tls = await readTls(config);
  const { log, flush } = openLog({
    level: config.log.level,
    format: io.isTerminal && !isJson ? "text" : "json",
    // With --json standard output holds the one value, so the log moves over.
    write: (lines) => void (isJson ? io.writeError(lines) : io.writeOut(lines)),
  });
  let defectCount = 0;
  // Whatever was not foreseen must end one request at most, never the server.
  io.onDefect((error) => log.error("defect", { error, count: ++defectCount }));

  try {
    const services = await openServices(config);
    const demoToken = config.isDemo ? await closeOnFailure(services, () => openDemo(services, input)) : null;
    const server = await closeOnFailure(services, () => listen(services, config, tls));
    log.info("listening", {
      url: server.url,
      version: buildInfo.version,
      commit: buildInfo.commit,
      data_dir: config.dataDir,
      llm: services.llm.name,
    });
    for (const variable of listIdleSettings(config)) log.warn("setting has no effect in this version", { variable });
    // Before the message, not in the middle of it.
    flush();
    await announce(input, config, server, services.llm.name, demoToken);

    log.info("stopping", { signal: await stopped, grace_ms: drainGraceMs });
    if (io.isTerminal) await io.writeError("Letting open replies finish. Once more ends at once.\n");
    await server.drain(drainGraceMs);
    log.info("stopped");
  } finally {
    flush();
    await io.writeOut("");
  }
}

/** Settings of what is still to come: an operator who sets one must not believe that it works. */
function listIdleSettings({ metrics, backup }: Config): string[] {
  return [
    ...(metrics.token === null ? [] : ["COMPANIOND_METRICS_TOKEN"]),
    ...(metrics.port === null ? [] : ["COMPANIOND_METRICS_PORT"]),
    ...(backup.cron === null ? [] : ["COMPANIOND_BACKUP_CRON"]),
  ];
}

function openDemo(services: OpenedServices, { ids, audit }: ActionInput): Promise<string> {
  return ensureDemo(services.store, ids, audit);
}

async function announce(
  { io, isJson }: ActionInput,
  config: Config,
  server: RunningServer,
  llmName: string,
  demoToken: string | null,
): Promise<void> {
  if (isJson) {
    await io.writeOut(`${JSON.stringify({ url: server.url, port: server.port, demo_embed_token: demoToken })}\n`);
    return;
  }
  const message = `${describeStart({ url: config.publicUrl ?? server.url, listeningUrl: server.url, llmName, demoToken })}\n`;
  if (io.isTerminal) await io.writeOut(message);
  // Not in the log, which keeps embed tokens out; and standard output is the log's here.
  else if (demoToken !== null) await io.writeError(message);
}

function listen(
  services: OpenedServices,
  { server: { host, port }, metrics }: Config,
  tls: Certificate | null,
): RunningServer {
  try {
    return startServer(services, { host, port, metricsPort: metrics.port, ...(tls === null ? {} : { tls }) });
  } catch (error) {
    throw error instanceof ListenFailure ? new CommandFailure(describeListenFailure(error)) : error;
  }
}

function describeListenFailure({ host, port, code, message }: ListenFailure): string {
  if (code === "EADDRINUSE") return `port ${port} of ${host} is taken by another program. Choose another with --port.`;
  if (code === "EACCES") return `port ${port} may not be used: ports below 1024 need a privilege.`;
  if (code === "EADDRNOTAVAIL") return `${host} is not an address of this machine.`;
  // A name without an address, for one: the system's words say it best.
  return `cannot listen on ${host}, port ${port}: ${message}`;
}

/** What was opened must not stay open when a later step fails. */
async function closeOnFailure<Result>(services: OpenedServices, step: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    await services.close();
    throw error;
  }
}

async function readTls({ server: { tls } }: Config): Promise<Certificate | null> {
  if (tls === null) return null;
  const [cert, key] = await Promise.all([readPem("--tls-cert", tls.certFile), readPem("--tls-key", tls.keyFile)]);
  try {
    readCertificateExpiry({ cert, key });
  } catch (error) {
    throw new CommandFailure(`--tls-cert and --tls-key: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return { cert, key };
}

async function readPem(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandFailure(`${flag}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
