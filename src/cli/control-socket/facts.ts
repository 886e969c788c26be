/** Reads a running server's report of itself. Another version may have written it, so nothing is taken on trust. */
import type { Finding } from "../../domain/finding.ts";
import { protocol } from "./protocol.ts";

export interface RunningFacts {
  version: string;
  pid: number;
  user: string;
  uid: number | null;
  uptimeSeconds: number;
  listening: readonly string[];
  publicUrl: string | null;
  isDraining: boolean;
  openReplies: number;
  /** Whether the data is in the data directory. */
  isEmbedded: boolean;
  backups: { cron: string | null; dir: string; keep: number };
  settings: readonly { name: string; source: string }[];
  /** Empty unless it was asked to check. */
  findings: readonly Finding[];
}

const maxText = 2_000;
const maxVersion = 50;
const maxEntries = 500;

/** The one thing that every version sends in each answer, no matter what else; null if this has none. */
export function readVersion(answer: unknown): string | null {
  return toText(toObject(answer)["version"]).slice(0, maxVersion) || null;
}

/** Null if it has nothing that this program understands. */
export function readFacts(answer: unknown): RunningFacts | null {
  const facts = toObject(answer);
  if (facts["protocol"] !== protocol) return null;
  const [user, storage, backups] = [toObject(facts["user"]), toObject(facts["storage"]), toObject(facts["backups"])];
  return {
    version: toText(facts["version"]),
    pid: toNumber(facts["pid"]),
    user: toText(user["name"] ?? user["uid"]),
    uid: typeof user["uid"] === "number" ? user["uid"] : null,
    uptimeSeconds: toNumber(facts["uptime_seconds"]),
    listening: toList(facts["listening"]).map(toText),
    publicUrl: typeof facts["public_url"] === "string" ? toText(facts["public_url"]) : null,
    isDraining: facts["is_draining"] === true,
    openReplies: toNumber(facts["open_replies"]),
    isEmbedded: storage["engine"] === "embedded",
    backups: {
      cron: typeof backups["cron"] === "string" ? toText(backups["cron"]) : null,
      dir: toText(backups["dir"]),
      keep: toNumber(backups["keep"]),
    },
    settings: toList(facts["settings"]).map((one) => {
      const { name, source } = toObject(one);
      return { name: toText(name), source: toText(source) };
    }),
    findings: toList(facts["findings"]).flatMap(toFinding),
  };
}

function toFinding(value: unknown): Finding[] {
  const { name, status, detail, advice, is_off } = toObject(value);
  if (status !== "ok" && status !== "warn" && status !== "fail") return [];
  const off = is_off === true ? { is_off } : {};
  return [
    { name: toText(name), status, detail: toText(detail), advice: advice === null ? null : toText(advice), ...off },
  ];
}

function toObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, maxEntries) : [];
}

/** Without what a terminal would obey: root may read what another user's process sends. */
function toText(value: unknown): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return text.slice(0, maxText).replaceAll(/\p{Cc}/gu, " ");
}

function toNumber(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
