/** What visitors, websites, monitoring and voice providers call: the half of the routes that every start loads. */
import { assetRoutes } from "../api/assets/index.ts";
import { feedbackRoutes } from "../api/chat/feedback-routes.ts";
import { chatRoutes } from "../api/chat/index.ts";
import { liveRoutes } from "../api/chat/live-routes.ts";
import { personRoutes } from "../api/chat/person-routes.ts";
import { visitorConversationRoutes } from "../api/conversations/visitor-routes.ts";
import { dashboardRoutes } from "../api/dashboard/index.ts";
import { makeDocsRoutes } from "../api/docs/index.ts";
import { embedRoutes } from "../api/embed/index.ts";
import { healthRoutes } from "../api/health/index.ts";
import { metricsRoutes } from "../api/metrics/index.ts";
import { pageRoutes } from "../api/pages/index.ts";
import { voiceTokenRoutes } from "../api/voice-token/index.ts";
import { voiceWebhookRoutes } from "../api/voice-webhook/index.ts";
import type { Route } from "../http/route.ts";

/** And some of the other half in the same groups. `listRoutes` lists both, for the documentation. */
export function makePublicRoutes(listRoutes: () => Promise<readonly Route[]>): readonly Route[] {
  const groups: readonly (readonly Route[])[] = [
    ...[embedRoutes, chatRoutes, liveRoutes, voiceTokenRoutes, personRoutes, feedbackRoutes],
    ...[visitorConversationRoutes, pageRoutes, assetRoutes, healthRoutes, metricsRoutes, dashboardRoutes],
    ...[makeDocsRoutes(listRoutes), voiceWebhookRoutes],
  ];
  return groups.flat();
}
