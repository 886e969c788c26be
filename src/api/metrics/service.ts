/** All metrics of the server, as the text of one scrape. */
import type { Services } from "../../core/dependencies.ts";
import { renderFamilies } from "./exposition.ts";
import { describeMeasurements } from "./families.ts";
import { readProcessFigures } from "./process-figures.ts";

export async function renderMetrics({
  measurements,
}: Pick<Services, "measurements">): Promise<{ contentType: string; text: string }> {
  return await renderFamilies([...(await describeMeasurements(measurements)), ...(await readProcessFigures())]);
}
