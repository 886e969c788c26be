/** `companiond doctor`: checks everything that an installation needs, and reports what to fix. */
import { type Config, ConfigError } from "../config/config.ts";
import type { Finding } from "../domain/finding.ts";
import { type ActionInput, type ActionResult, file, free, singleCommand } from "./command.ts";
import { type Asked, askServers } from "./control-socket/ask.ts";
import { examineStoredCertificate } from "./doctor/certificates.ts";
import { examineData } from "./doctor/data.ts";
import { fail, off } from "./doctor/finding.ts";
import { examineDefaultModel, hasStopBudgets } from "./doctor/models.ts";
import { examineDomainPorts, examinePort } from "./doctor/network.ts";
import { examineRunning, toServerConfig } from "./doctor/running.ts";
import { listChecks, runChecks } from "./doctor/small-checks.ts";
import { findUnreadSettings } from "./unread-settings.ts";

const machineChecks = ["data directory", "disk"];

export const doctorCommand = singleCommand({
  name: "doctor",
  about:
    "Check configuration, data, network and providers, and report what to fix. Where a server runs in the data directory, it " +
    "is asked what it runs with. Asks the language model for one word. Exits with 1 if a check fails, with 2 if it is the " +
    "configuration.",
  data: "reads",
  options: {
    host: { value: free("address"), about: "As for serve." },
    port: { value: free("port"), about: "As for serve." },
    domain: { value: free("name"), about: "As for serve." },
    "tls-cert": { value: file, about: "As for serve." },
    "tls-key": { value: file, about: "As for serve." },
    demo: { about: "As for serve." },
  },
  tellsIdle: true,
  run: diagnose,
});

async function diagnose(input: ActionInput): Promise<ActionResult> {
  const findings = await examine(input);
  const worst = (["fail", "warn"] as const).find((status) => findings.some((one) => one.status === status)) ?? "ok";
  const width = Math.max(15, ...findings.map(({ name }) => name.length));
  return {
    json: { status: worst, checks: findings.map((one) => ({ ...one })) },
    text: findings.map((one) => describeFinding(one, width)).join("\n"),
    ...(worst === "fail" ? { isFailure: true } : {}),
    isMisuse: findings.some(({ name, status }) => name === "configuration" && status === "fail"),
  };
}

async function examine(input: ActionInput): Promise<Finding[]> {
  const { config, dataDir, problems } = readConfig(input);
  const { servers, hasAbandoned } = await askServers(dataDir);
  if (servers.length > 0) return await examineServers(dataDir, servers);
  const abandoned = hasAbandoned ? " One was killed here: its socket is still there." : "";
  const unread = config === null ? null : findUnreadSettings(config, input.io.serviceSettings);
  const none = off(
    "server",
    `None is running in ${dataDir}: this report is of the settings given to this command.${abandoned} ` +
      `${unread ?? "To ask a server that runs elsewhere, add its --data-dir"}.`,
  );
  if (config === null) return [none, ...problems];
  return await runChecks([
    { name: "server", check: () => none },
    { name: "data directory", check: () => examineData(config) },
    { name: "prices", check: () => examineDefaultModel(config, () => hasStopBudgets(config)) },
    { name: "port", check: () => (config.server.acme === null ? examinePort(config) : examineDomainPorts(config)) },
    { name: "certificate", check: () => examineStoredCertificate(config, input.clock.nowMs()) },
    ...listChecks(config, input.clock.nowMs(), null),
  ]);
}

/** With a server that runs, the settings of this command mean nothing: theirs are those that count. */
async function examineServers(dataDir: string, servers: readonly Asked[]): Promise<Finding[]> {
  const first = servers.find((one) => one.kind === "answered");
  // Whose rights count: the server's. Its own user sees the same as it, and checks more closely.
  const isServersUser = first !== undefined && first.facts.uid === process.geteuid?.();
  const isDirectory = ({ name }: Finding) => name === "data directory";
  const [running, data] = await Promise.all([
    examineRunning(servers),
    runChecks([{ name: "data directory", check: () => examineData(toServerConfig(dataDir, first?.facts ?? null)) }]),
  ]);
  // Where the data is, and what of backups is wanted, is known from an answer alone.
  if (first === undefined) return [...running, ...data.filter(({ name }) => machineChecks.includes(name))];
  if (isServersUser) return [...running.filter((one) => !isDirectory(one)), ...data];
  return [...running, ...data.filter((one) => !isDirectory(one))];
}

function readConfig({ loadConfig }: ActionInput): { config: Config | null; dataDir: string; problems: Finding[] } {
  try {
    const config = loadConfig();
    return { config, dataDir: config.dataDir, problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = "Fix this first: nothing else can be checked.";
    const problems = error.problems.map(({ sentence }) => fail("configuration", sentence, advice));
    return { config: null, dataDir: error.dataDir, problems };
  }
}

function describeFinding({ name, status, detail, advice, is_off }: Finding, width: number): string {
  const line = `${(is_off ? "off" : status).padEnd(4)}  ${name.padEnd(width)}  ${detail}`;
  return advice === null ? line : `${line}\n${" ".repeat(8 + width)}${advice}`;
}
