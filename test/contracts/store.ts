/** What every storage engine must do: one suite per noun. */
import { describe } from "bun:test";
import type { OpenStore } from "../support/store-world.ts";
import { accountStoreContract } from "./store-accounts.ts";
import { apiKeyStoreContract } from "./store-api-keys.ts";
import { auditStoreContract } from "./store-audit.ts";
import { challengeStoreContract } from "./store-challenges.ts";
import { companionStoreContract } from "./store-companions.ts";
import { conversationStoreContract } from "./store-conversations.ts";
import { embedTokenStoreContract } from "./store-embed-tokens.ts";
import { exchangeStoreContract } from "./store-exchanges.ts";
import { holdingsContract } from "./store-holdings.ts";
import { idempotencyStoreContract } from "./store-idempotency.ts";
import { keyLineStoreContract } from "./store-key-lines.ts";
import { metadataContract } from "./store-metadata.ts";
import { secondFactorStoreContract } from "./store-second-factors.ts";
import { sessionStoreContract } from "./store-sessions.ts";
import { spendingStoreContract } from "./store-spending.ts";
import { turnStoreContract } from "./store-turns.ts";
import { usageStoreContract } from "./store-usage.ts";
import { recordedUsageContract } from "./store-usage-recorded.ts";
import { visitorKeyStoreContract } from "./store-visitor-keys.ts";
import { voiceStoreContract } from "./store-voice.ts";
import { voiceAgentGrantStoreContract } from "./store-voice-agent-grants.ts";

export function storeContract(open: OpenStore): void {
  accountStoreContract(open);
  apiKeyStoreContract(open);
  keyLineStoreContract(open);
  auditStoreContract(open);
  challengeStoreContract(open);
  companionStoreContract(open);
  conversationStoreContract(open);
  embedTokenStoreContract(open);
  describe("exchanges", () => exchangeStoreContract(open));
  describe("budgets", () => spendingStoreContract(open));
  holdingsContract(open);
  idempotencyStoreContract(open);
  metadataContract(open);
  secondFactorStoreContract(open);
  sessionStoreContract(open);
  turnStoreContract(open);
  usageStoreContract(open);
  recordedUsageContract(open);
  visitorKeyStoreContract(open);
  voiceStoreContract(open);
  voiceAgentGrantStoreContract(open);
}
