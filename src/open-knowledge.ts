/** What makes and uses the index of knowledge, as the server runs it. */
import type { Services } from "./dependencies.ts";
import { AppError } from "./domain/errors.ts";
import { createBodyBudget } from "./http/body-budget.ts";
import { uploadBodyLimits } from "./limits/rules.ts";

export function openKnowledge(): Pick<Services, "indexing" | "knowledgeSearch" | "uploadBodies"> {
  return {
    uploadBodies: createBodyBudget(uploadBodyLimits),
    indexing: { wake: () => undefined },
    knowledgeSearch: {
      search: () => Promise.reject(new AppError("unavailable", "Knowledge cannot be searched on this server yet.")),
    },
  };
}
