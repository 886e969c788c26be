/** What a running server reports to its operators: what it runs with, without a secret, and what its checks find. */
import type { Finding } from "./finding.ts";

/** As `doctor` reads it, by the names of the wire. Addresses are without user, password and query. */
export interface ServerFacts {
  protocol: number;
  version: string;
  commit: string | null;
  pid: number;
  started_at: string | null;
  uptime_seconds: number;
  user: { uid: number | null; name: string | null };
  data_dir: string;
  storage: { engine: "embedded" | "postgresql"; database: string };
  redis: string | null;
  listening: string[];
  metrics_url: string | null;
  public_url: string | null;
  language_model: {
    is_demo: boolean;
    providers: { name: string; base_url: string; has_key: boolean }[];
    default_model: string;
    models: readonly string[];
    embedding_model: string | null;
  };
  voice: { base_url: string; has_key: boolean } | null;
  backups: {
    cron: string | null;
    dir: string;
    keep: number;
    succeeded: number;
    failed: number;
    last_success_at: string | null;
  };
  certificate: { expires_at: string | null } | null;
  settings: readonly { name: string; source: string }[];
  is_draining: boolean;
  open_replies: number;
}

export interface ServerReport extends ServerFacts {
  findings: Finding[];
}

/** Reports of a server: `serve` puts in who makes them. */
export interface ServerReports {
  /** Runs all checks, which ask providers: each has its deadline. Null in a process that does not serve. */
  check: (() => Promise<ServerReport>) | null;
  /** Accounts that test a model just now. */
  readonly modelTests: Set<string>;
}
