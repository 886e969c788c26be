/** What needs an operator's attention: models that are about to be shut down, with how many companions they concern. */
import type { Services } from "../../core/dependencies.ts";
import type { RetiringModel } from "../../domain/model-dates.ts";
import { nameAnswerer } from "../../domain/model-routes.ts";

export interface CountedRetiringModel extends RetiringModel {
  /** Of all accounts, those that it may answer for. */
  readonly companions: number;
}

/** Nothing is counted where no model has a date. */
export async function listRetiringModels({
  modelDates,
  store,
  settings,
  llm,
}: Pick<Services, "modelDates" | "store" | "settings" | "llm">): Promise<CountedRetiringModel[]> {
  const retiring = modelDates.list();
  if (retiring.length === 0) return [];
  const { model: usual, models } = settings.llm;
  const companions = new Map<string, number>();
  for (const [model, count] of await store.companions.countByModel()) {
    // As a turn chooses it.
    const asked = models.find((name) => name === model) ?? usual;
    for (const answerer of llm.listAnswerers(asked)) {
      const name = nameAnswerer(answerer);
      companions.set(name, (companions.get(name) ?? 0) + count);
    }
  }
  return retiring.map((one) => ({ ...one, companions: companions.get(nameAnswerer(one)) ?? 0 }));
}
