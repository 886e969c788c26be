/** What `doctor` reports of servers that run: who they are, what they run with, and what they have found themselves. */
import { type Config, loadConfig } from "../../config/config.ts";
import type { Finding } from "../../domain/finding.ts";
import { buildInfo } from "../../lib/build-info.ts";
import { type Asked, adviseOnVersions, askForChecks, compareVersions } from "../control-socket/ask.ts";
import type { RunningFacts } from "../control-socket/facts.ts";
import { fail, ok, warn } from "./finding.ts";

type Answered = Extract<Asked, { kind: "answered" }>;

/** Several only share a database; what they agree on is reported once. */
export async function examineRunning(servers: readonly Asked[]): Promise<Finding[]> {
  const found = await Promise.all(
    servers.map(async (one) => {
      if (one.kind === "unknown") return [fail("server", one.sentence, one.advice)];
      const findings = await examineOne(one);
      const [first, ...others] = findings;
      return first === undefined || servers.length === 1 ? findings : [first, ...others.map(markWith(one.facts.pid))];
    }),
  );
  return found.flat();
}

async function examineOne({ facts, path }: Answered): Promise<Finding[]> {
  const own = [
    describeServer(facts),
    describeSettings(facts),
    ok("port", `It listens at ${facts.listening.join(", ")}.`),
  ];
  const checked = await askForChecks(path);
  if (checked === "unable") {
    return [...own, warn("server", "That version cannot check what it runs with.", adviseOnVersions(facts.version))];
  }
  if (checked !== null) return [...own, ...checked.findings];
  const advice = "Check its log, and try again.";
  return [...own, fail("server", "It did not finish checking what it runs with.", advice)];
}

function markWith(pid: number): (finding: Finding) => Finding {
  return (finding) => ({ ...finding, detail: `${finding.detail} (pid ${pid})` });
}

function describeServer({ version, pid, user, uptimeSeconds, isDraining, openReplies }: RunningFacts): Finding {
  const name = "server";
  const who = `companiond ${version} is running: pid ${pid}, user ${user}, up ${describeTime(uptimeSeconds)}.`;
  if (version !== buildInfo.version) {
    return warn(name, `${compareVersions(version)} It has pid ${pid}, and user ${user}.`, adviseOnVersions(version));
  }
  if (isDraining) {
    const replies = openReplies === 1 ? "1 reply is" : `${openReplies} replies are`;
    return warn(
      name,
      `${who} It is stopping; ${replies} open.`,
      "Nothing, unless it was meant to keep running: then start it again.",
    );
  }
  return ok(name, `${who} This report is of what it runs with.`);
}

function describeSettings({ settings }: RunningFacts): Finding {
  if (settings.length === 0) return ok("settings", "No settings are given: it runs with the defaults.");
  const sources = [...new Set(settings.map(({ source }) => source))];
  const lists = sources.map((source) => {
    const names = settings.filter((one) => one.source === source).map(({ name }) => name);
    return `${names.join(", ")} (${source})`;
  });
  return ok("settings", `These settings are given: ${lists.join("; ")}.`);
}

function describeTime(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
    ["second", 1],
  ] as const;
  const [unit, length] = units.find(([, one]) => seconds >= 2 * one) ?? (["second", 1] as const);
  const count = Math.floor(seconds / length);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** What the check of the data directory needs: nothing of the command's own settings, which may be others. */
export function toServerConfig(dataDir: string, facts: RunningFacts | null): Config {
  const config = loadConfig({ environment: { COMPANIOND_DATA_DIR: dataDir } });
  if (facts === null) return config;
  const database = facts.isEmbedded ? null : { url: "postgres://elsewhere", pool: 1, poolHeavy: 1 };
  return { ...config, database, backup: { ...config.backup, ...facts.backups } };
}
