/** `companiond doctor`: checks everything that an installation needs, and says what to fix. */
import { type Config, ConfigError } from "../config.ts";
import { type ActionInput, type ActionResult, singleCommand } from "./command.ts";
import { examineData } from "./doctor/data.ts";
import { examineDatabase } from "./doctor/database.ts";
import { examineDomainPorts } from "./doctor/domain-ports.ts";
import { describeFailure, type Finding, fail, ok } from "./doctor/finding.ts";
import { examineCertificate, examinePort, examineProxy, examinePublicUrl } from "./doctor/network.ts";
import { examineClock, examineEmbeddings, examineLlm, examinePrices, examineVoice } from "./doctor/providers.ts";
import { examineReading } from "./doctor/reading.ts";
import { examineRedis } from "./doctor/redis.ts";

export const doctorCommand = singleCommand({
  name: "doctor",
  about:
    "Check configuration, data, network and providers, and say what to fix. Asks the language model for one word. " +
    "Exits with 1 if a check fails.",
  options: {
    host: { value: "H", about: "As for serve." },
    port: { value: "N", about: "As for serve." },
    domain: { value: "NAME", about: "As for serve." },
    "tls-cert": { value: "F", about: "As for serve." },
    "tls-key": { value: "F", about: "As for serve." },
  },
  run: diagnose,
});

async function diagnose(input: ActionInput): Promise<ActionResult> {
  const findings = await examine(input);
  const worst = (["fail", "warn"] as const).find((status) => findings.some((one) => one.status === status)) ?? "ok";
  return {
    json: { status: worst, checks: findings.map((one) => ({ ...one })) },
    text: findings.map(describeFinding).join("\n"),
    ...(worst === "fail" ? { isFailure: true } : {}),
  };
}

async function examine({ loadConfig, clock }: ActionInput): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = "Fix this first: nothing else can be checked.";
    return error.problems.map(({ sentence }) => fail("configuration", sentence, advice));
  }
  const looks: [name: string, look: () => Finding | Finding[] | Promise<Finding | Finding[]>][] = [
    ["configuration", () => ok("configuration", "All settings are valid.")],
    ["data directory", () => examineData(config)],
    ["database", () => examineDatabase(config)],
    ["redis", () => examineRedis(config)],
    ["clock", () => examineClock(config, clock.nowMs())],
    ["port", () => (config.server.acme === null ? examinePort(config) : examineDomainPorts(config))],
    ["certificate", () => examineCertificate(config, clock.nowMs())],
    ["proxy headers", () => examineProxy(config)],
    ["public URL", () => examinePublicUrl(config)],
    ["language model", () => examineLlm(config)],
    ["embeddings", () => examineEmbeddings(config)],
    ["prices", () => examinePrices(config)],
    ["voice provider", () => examineVoice(config)],
    ["documents", examineReading],
  ];
  const found = await Promise.all(
    looks.map(async ([name, look]) => {
      try {
        return await look();
      } catch (error) {
        // A check that cannot run must not hide the others.
        return fail(name, `It could not be checked: ${describeFailure(error)}.`, "See the reason given.");
      }
    }),
  );
  return found.flat();
}

function describeFinding({ name, status, detail, advice }: Finding): string {
  const line = `${status.padEnd(4)}  ${name.padEnd(15)}  ${detail}`;
  return advice === null ? line : `${line}\n${" ".repeat(23)}${advice}`;
}
