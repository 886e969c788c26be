/** Runs axe-core in a page of the browser. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { isFull } from "./full.ts";

const source = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** A colour that is still on its way is not what people read. What never ends, such as a spinner, is not waited for. */
const transitionsEnd = `(async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const endless = (animation) => animation.effect?.getComputedTiming().endTime === Infinity;
  const ending = document.getAnimations().filter((animation) => !endless(animation));
  await Promise.allSettled(ending.map(({ finished }) => finished));
})()`;

interface AxeResult {
  violations: { id: string; nodes: { html: string; any: { message: string }[] }[] }[];
}

/**
 * The same in `full` alone: for a further state or appearance of what the gate has examined in another. Which colours
 * are on which is computed for both themes in `test/web/contrast.test.ts`.
 */
export async function findViolationsInState(page: Page, rules = standards): Promise<string[]> {
  return isFull ? await findViolations(page, rules) : [];
}

/** Violations of WCAG 2.2 AA and good practice, or of the given rules; empty if there are none. */
export async function findViolations(page: Page, rules = standards): Promise<string[]> {
  // It takes as long to bring as to run on a small page, and stays until the document goes.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(source);
  await page.evaluate(transitionsEnd);
  // Only what is wrong: to describe and to send what is right takes more than half of the time.
  const options = JSON.stringify({ runOnly: rules, resultTypes: ["violations"] });
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, ${options}).then(({ violations }) => ({ violations }))`,
  );
  return violations.map(({ id, nodes }) => {
    const places = nodes.map(({ html, any }) => `${html} ${any[0]?.message ?? ""}`);
    return `${id}: ${places.join(" | ")}`;
  });
}
