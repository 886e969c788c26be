/** Every route, in the order of the API document. */
import type { Route } from "./http/route.ts";
import { accountRoutes } from "./modules/accounts/index.ts";
import { assetRoutes } from "./modules/assets/index.ts";
import { auditRoutes } from "./modules/audit/index.ts";
import { budgetRoutes } from "./modules/budgets/index.ts";
import { chatRoutes } from "./modules/chat/index.ts";
import { keyChatRoutes } from "./modules/chat/key-chat.ts";
import { companionRoutes } from "./modules/companions/index.ts";
import { conversationRoutes } from "./modules/conversations/index.ts";
import { dashboardRoutes } from "./modules/dashboard/index.ts";
import { makeDocsRoutes } from "./modules/docs/index.ts";
import { embedRoutes } from "./modules/embed/index.ts";
import { healthRoutes } from "./modules/health/index.ts";
import { keyRoutes } from "./modules/keys/index.ts";
import { knowledgeRoutes } from "./modules/knowledge/index.ts";
import { meRoutes } from "./modules/me/index.ts";
import { metricsRoutes } from "./modules/metrics/index.ts";
import { openAiRoutes } from "./modules/openai/index.ts";
import { pageRoutes } from "./modules/pages/index.ts";
import { sessionRoutes } from "./modules/session/index.ts";
import { spendingStopRoutes } from "./modules/spending-stops/index.ts";
import { statusRoutes } from "./modules/status/index.ts";
import { usageRoutes } from "./modules/usage/index.ts";
import { visitorKeyRoutes } from "./modules/visitor-keys/index.ts";
import { voiceTokenRoutes } from "./modules/voice-token/index.ts";
import { webhookRoutes } from "./modules/webhooks/index.ts";

export const routes: readonly Route[] = [
  ...embedRoutes,
  ...chatRoutes,
  ...voiceTokenRoutes,
  ...companionRoutes,
  ...keyChatRoutes,
  ...openAiRoutes,
  ...knowledgeRoutes,
  ...conversationRoutes,
  ...usageRoutes,
  ...budgetRoutes,
  ...keyRoutes,
  ...meRoutes,
  ...visitorKeyRoutes,
  ...auditRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...spendingStopRoutes,
  ...pageRoutes,
  ...assetRoutes,
  ...healthRoutes,
  ...statusRoutes,
  ...metricsRoutes,
  ...dashboardRoutes,
  ...makeDocsRoutes(() => routes),
  ...webhookRoutes,
];
