/** What the management API sends, as far as the dashboard reads it. */

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

export interface Account {
  id: string;
  email: string;
  plan: "free" | "paid";
  role: "owner" | "operator";
  suspended_at: string | null;
  has_totp: boolean;
  created_at: string;
}

/** An agent of the voice provider that the account may use. */
export interface VoiceAgentGrant {
  agent_id: string;
  /** Of the account, that name it. */
  companions: number;
  created_at: string;
}

export interface Session {
  id: string;
  user_agent: string | null;
  ip: string | null;
  is_current: boolean;
  created_at: string;
  last_used_at: string;
  expires_at: string;
}

/** What the server offers, whoever is signed in. */
export interface ServerFacts {
  version: string;
  base_url: string;
  /** True while the built-in demo answers, since no language model is configured. */
  is_demo_llm: boolean;
  default_model: string;
  models: string[];
  max_output_tokens: number;
  has_voice_provider: boolean;
  daily_messages: number;
}

export interface Held {
  used: number;
  limit: number;
}

/** What the account holds, and may hold on its plan. */
export interface Holdings {
  companions: Held;
  api_keys: Held;
  bytes: Held;
  /** For each companion. */
  embed_tokens: number;
}

export interface SignedIn {
  account: Account;
  scopes: string[];
  session: Session;
  totp: { is_on: boolean; is_required: boolean; recovery_codes_left: number };
  server: ServerFacts;
  holdings: Holdings;
}

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type { WireCompanion as Companion } from "../../../modules/companions/model.ts";

export interface EmbedToken {
  id: string;
  token: string;
  name: string | null;
  created_at: string;
  last_used_at: string | null;
}

export interface ApiKey {
  id: string;
  name: string;
  start: string;
  last_four: string | null;
  scopes: string[];
  expires_at: string | null;
  last_used_at: string | null;
  requests: number;
  created_by_key_id: string | null;
  replaced_by_key_id: string | null;
  replaced_at: string | null;
  created_at: string;
}

export interface Conversation {
  id: string;
  companion_id: string;
  session_id: string;
  visitor_id: string | null;
  message_count: number;
  created_at: string;
  updated_at: string;
}

export interface Message {
  id: string;
  role: "user" | "assistant";
  channel: "text" | "voice";
  text: string;
  complete: boolean;
  input_tokens: number | null;
  output_tokens: number | null;
  tokens_estimated: boolean;
  created_at: string;
}

export interface ConversationWithMessages extends Conversation {
  /** A page of them, oldest first. */
  messages: Message[];
  messages_next_cursor: string | null;
}

export interface UsageCounts {
  messages: number;
  requests: number;
  input_tokens: number;
  output_tokens: number;
  voice_sessions: number;
  errors: number;
}

export interface UsageRow extends UsageCounts {
  day?: string;
  companion_id?: string | null;
  key_id?: string | null;
}

export interface FailedReplies {
  kind: string;
  replies: number;
  last_day: string;
}

/** What an operator should look at. */
export interface Status {
  silent_models: { model: string; detail: string; advice: string; replies: number; since: string }[];
}

export interface Quota {
  day: string;
  limit: number;
  used: number;
  left: number;
}

export interface AuditEntry {
  id: string;
  actor: {
    kind: "key" | "session" | "cli" | "system";
    id: string | null;
    ip: string | null;
    request_id: string | null;
  };
  action: string;
  target_id: string | null;
  details: { [key: string]: Json };
  created_at: string;
}

/** With the secret, the one time that it is shown. */
export type MadeKey = ApiKey & { key: string };
