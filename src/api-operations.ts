/** Every documented route, in the order of the API document; a test compares it with the sitemap. */
import type { ApiOperation } from "./http/api-description.ts";
import { describeRoute } from "./http/describe-route.ts";
import { accountRoutes } from "./modules/accounts/index.ts";
import { assetsApi } from "./modules/assets/api.ts";

import { auditRoutes } from "./modules/audit/index.ts";
import { chatRoutes } from "./modules/chat/index.ts";

import { companionRoutes } from "./modules/companions/index.ts";
import { conversationsApi } from "./modules/conversations/api.ts";
import { dashboardApi } from "./modules/dashboard/api.ts";
import { docsApi } from "./modules/docs/api.ts";
import { embedRoutes } from "./modules/embed/index.ts";
import { healthApi } from "./modules/health/api.ts";
import { keyRoutes } from "./modules/keys/index.ts";
import { metricsApi } from "./modules/metrics/api.ts";
import { pagesApi } from "./modules/pages/api.ts";
import { sessionRoutes } from "./modules/session/index.ts";
import { statusRoutes } from "./modules/status/index.ts";
import { usageRoutes } from "./modules/usage/index.ts";
import { voiceTokenRoutes } from "./modules/voice-token/index.ts";
import { webhookRoutes } from "./modules/webhooks/index.ts";

export const apiOperations: readonly ApiOperation[] = [
  ...embedRoutes.map(describeRoute),
  ...chatRoutes.map(describeRoute),
  ...voiceTokenRoutes.map(describeRoute),
  ...companionRoutes.map(describeRoute),
  ...conversationsApi,
  ...usageRoutes.map(describeRoute),
  ...keyRoutes.map(describeRoute),
  ...auditRoutes.map(describeRoute),
  ...sessionRoutes.map(describeRoute),
  ...accountRoutes.map(describeRoute),
  ...pagesApi,
  ...assetsApi,
  ...healthApi,
  ...statusRoutes.map(describeRoute),
  ...metricsApi,
  ...dashboardApi,
  ...docsApi,
  ...webhookRoutes.map(describeRoute),
];
