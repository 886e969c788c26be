/** Somebody of the team in the dashboard's inbox: opens conversations at random, writes into them and gives them back. */
import type { Locator } from "playwright-core";
import { eventually } from "../test/support/eventually.ts";
import type { BrowserLine } from "./people-browsers.ts";
import type { Random } from "./row.ts";

const settled = { withinMs: 60_000, everyMs: 250 };

export class BrowsingPerson {
  /** What was not taken back. */
  readonly sent: string[] = [];
  readonly line: BrowserLine;
  readonly name: string;
  readonly #random: Random;

  constructor(line: BrowserLine, name: string, random: Random) {
    this.line = line;
    this.name = name;
    this.#random = random;
  }

  async live(isOver: () => boolean): Promise<void> {
    await this.#load("/app/inbox");
    for (let number = 0; !isOver(); ) {
      await Bun.sleep(300 + this.#random.below(1_200));
      if (this.#random.below(15) === 0) await this.#load("/app/inbox");
      const rows = this.line.page.getByRole("navigation", { name: "Inbox" }).getByRole("listitem").getByRole("link");
      const count = await rows.count();
      if (count === 0) continue;
      await rows
        .nth(this.#random.below(count))
        .click({ timeout: 5_000 })
        .catch(() => {});
      if (!(await isThere(this.#composer, 5_000))) continue;
      const written = await this.#write(`${this.name} writes ${number};`).catch(() => false);
      if (written) number++;
      if (this.#random.below(6) === 0) await this.#press("Release");
    }
  }

  /** Opens the conversation until everything that was written there is sent. */
  async settle(id: string): Promise<void> {
    await this.#load(`/app/inbox?c=${id}`);
    const isSent = async () => {
      await this.#answerDialog(true);
      return (await this.line.page.getByText("Sending…").count()) === 0 && (await isThere(this.#composer, 1_000));
    };
    await eventually(isSent, { what: `${this.name} to have sent everything`, ...settled }).catch(() => {});
  }

  async read(id: string): Promise<string[]> {
    const { page } = this.line;
    if (!page.url().includes(id)) await this.#load(`/app/inbox?c=${id}`);
    const log = page.getByRole("log", { name: "Transcript" });
    await log.waitFor({ timeout: 5_000 }).catch(() => {});
    const earlier = page.getByRole("button", { name: "Show earlier messages" });
    if (await earlier.isVisible()) await earlier.click({ timeout: 2_000 }).catch(() => {});
    return await log.locator("> div > div:first-child > :nth-child(2)").allInnerTexts();
  }

  get #composer(): Locator {
    return this.line.page.getByLabel("Message to the visitor");
  }

  async #load(path: string): Promise<void> {
    const { page, url } = this.line;
    const isLoaded = async () => {
      await page.goto(url + path, { timeout: 10_000 });
      await page.getByRole("navigation", { name: "Inbox" }).waitFor({ timeout: 5_000 });
      return true;
    };
    await eventually(() => isLoaded().catch(() => false), { what: `the inbox of ${this.name}`, ...settled });
  }

  /** Whether it is written, and will be sent sooner or later. */
  async #write(text: string): Promise<boolean> {
    const { page } = this.line;
    await this.#answerDialog(true);
    await this.#composer.fill(text, { timeout: 5_000 });
    await this.#composer.press("Enter", { timeout: 5_000 });
    // Beside a refusal that came meanwhile it is still a draft, which is thrown away.
    await eventually(async () => (await this.#composer.inputValue()) === "", { withinMs: 5_000 });
    this.sent.push(text);
    const sending = page.getByText("Sending…");
    const isOver = async () => (await this.#answerDialog(this.#random.below(2) === 0)) || (await sending.count()) === 0;
    await eventually(isOver, { withinMs: 4_000, everyMs: 50 }).catch(() => {});
    return true;
  }

  /** Whether there was one. What is taken back is not sent. */
  async #answerDialog(isSent: boolean): Promise<boolean> {
    const dialog = this.line.page.getByRole("dialog");
    if (!(await dialog.isVisible())) return false;
    const send = dialog.getByRole("button", { name: /^(Send anyway|Take over and send)$/ });
    if (isSent && (await send.isVisible())) {
      await send.click({ timeout: 3_000 }).catch(() => {});
      return true;
    }
    await dialog
      .getByRole("button", { name: "Back to my text" })
      .click({ timeout: 3_000 })
      .catch(() => {});
    const isBack = async () => (await this.#composer.inputValue()) !== "";
    await eventually(() => isBack().catch(() => false), { withinMs: 5_000 }).catch(() => {});
    const takenBack = (await this.#composer.inputValue().catch(() => "")).split("\n");
    for (const text of takenBack) if (this.sent.includes(text)) this.sent.splice(this.sent.indexOf(text), 1);
    await this.#composer.fill("").catch(() => {});
    return true;
  }

  async #press(name: string): Promise<void> {
    const button = this.line.page.getByRole("button", { name, exact: true });
    if (await button.isVisible()) await button.click({ timeout: 3_000 }).catch(() => {});
  }
}

function isThere(locator: Locator, timeout: number): Promise<boolean> {
  return locator.waitFor({ timeout }).then(
    () => true,
    () => false,
  );
}
