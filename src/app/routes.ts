/** Every route, in the order of the API document: loaded with the first request that the public half does not serve. */
import { accountRoutes } from "../api/accounts/index.ts";
import { assetRoutes } from "../api/assets/index.ts";
import { auditRoutes } from "../api/audit/index.ts";
import { budgetRoutes } from "../api/budgets/index.ts";
import { feedbackRoutes } from "../api/chat/feedback-routes.ts";
import { chatRoutes } from "../api/chat/index.ts";
import { keyChatRoutes } from "../api/chat/key-chat.ts";
import { keyLiveRoutes, liveRoutes } from "../api/chat/live-routes.ts";
import { personRoutes } from "../api/chat/person-routes.ts";
import { companionRoutes } from "../api/companions/index.ts";
import { conversationRoutes } from "../api/conversations/index.ts";
import { dashboardRoutes } from "../api/dashboard/index.ts";
import { makeDocsRoutes } from "../api/docs/index.ts";
import { embedRoutes } from "../api/embed/index.ts";
import { healthRoutes } from "../api/health/index.ts";
import { inboxRoutes } from "../api/inbox/index.ts";
import { insightRoutes } from "../api/insights/index.ts";
import { keyRoutes } from "../api/keys/index.ts";
import { knowledgeRoutes } from "../api/knowledge/index.ts";
import { leadRoutes } from "../api/leads/index.ts";
import { meRoutes } from "../api/me/index.ts";
import { memberRoutes } from "../api/members/index.ts";
import { metricsRoutes } from "../api/metrics/index.ts";
import { openAiRoutes } from "../api/openai/index.ts";
import { pageRoutes } from "../api/pages/index.ts";
import { presenceRoutes } from "../api/presence/index.ts";
import { serverRoutes } from "../api/server/index.ts";
import { sessionRoutes } from "../api/session/index.ts";
import { spendingStopRoutes } from "../api/spending-stops/index.ts";
import { statusRoutes } from "../api/status/index.ts";
import { toolRoutes } from "../api/tools/index.ts";
import { usageRoutes } from "../api/usage/index.ts";
import { visitorKeyRoutes } from "../api/visitor-keys/index.ts";
import { voiceTokenRoutes } from "../api/voice-token/index.ts";
import { voiceWebhookRoutes } from "../api/voice-webhook/index.ts";
import { webhookRoutes } from "../api/webhooks/index.ts";
import type { Route } from "../http/route.ts";

export const routes: readonly Route[] = [
  ...embedRoutes,
  ...chatRoutes,
  ...liveRoutes,
  ...voiceTokenRoutes,
  ...companionRoutes,
  ...keyChatRoutes,
  ...keyLiveRoutes,
  ...personRoutes,
  ...feedbackRoutes,
  ...openAiRoutes,
  ...knowledgeRoutes,
  ...toolRoutes,
  ...conversationRoutes,
  ...inboxRoutes,
  ...leadRoutes,
  ...presenceRoutes,
  ...usageRoutes,
  ...insightRoutes,
  ...budgetRoutes,
  ...keyRoutes,
  ...meRoutes,
  ...memberRoutes,
  ...visitorKeyRoutes,
  ...webhookRoutes,
  ...auditRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...spendingStopRoutes,
  ...pageRoutes,
  ...assetRoutes,
  ...healthRoutes,
  ...statusRoutes,
  ...serverRoutes,
  ...metricsRoutes,
  ...dashboardRoutes,
  ...makeDocsRoutes(async () => routes),
  ...voiceWebhookRoutes,
];
