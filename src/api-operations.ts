/** Every documented route, in the order of the API document; a test compares it with the sitemap. */
import type { ApiOperation } from "./http/api-description.ts";
import { describeRoute } from "./http/describe-route.ts";
import { accountsApi } from "./modules/accounts/api.ts";
import { assetsApi } from "./modules/assets/api.ts";
import { auditApi } from "./modules/audit/api.ts";
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
import { sessionApi } from "./modules/session/api.ts";
import { statusApi } from "./modules/status/api.ts";
import { usageRoutes } from "./modules/usage/index.ts";
import { voiceTokenApi } from "./modules/voice-token/api.ts";
import { webhooksApi } from "./modules/webhooks/api.ts";

export const apiOperations: readonly ApiOperation[] = [
  ...embedRoutes.map(describeRoute),
  ...chatRoutes.map(describeRoute),
  ...voiceTokenApi,
  ...companionRoutes.map(describeRoute),
  ...conversationsApi,
  ...usageRoutes.map(describeRoute),
  ...keyRoutes.map(describeRoute),
  ...auditApi,
  ...sessionApi,
  ...accountsApi,
  ...pagesApi,
  ...assetsApi,
  ...healthApi,
  ...statusApi,
  ...metricsApi,
  ...dashboardApi,
  ...docsApi,
  ...webhooksApi,
];
