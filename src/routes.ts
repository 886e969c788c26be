/** Every defined route, in the order of the API document. */
import type { Route } from "./http/route.ts";
import { chatRoutes } from "./modules/chat/index.ts";
import { companionRoutes } from "./modules/companions/index.ts";
import { embedRoutes } from "./modules/embed/index.ts";
import { keyRoutes } from "./modules/keys/index.ts";
import { usageRoutes } from "./modules/usage/index.ts";

export const routes: readonly Route[] = [
  ...embedRoutes,
  ...chatRoutes,
  ...companionRoutes,
  ...usageRoutes,
  ...keyRoutes,
];
