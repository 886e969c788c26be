/** Pages of `people-browsers`: a visitor with the widget, and somebody of the team with the dashboard's inbox. */
import type { Locator, Page } from "playwright-core";
import { eventually } from "../test/support/eventually.ts";
import type { FaultProxy } from "../test/support/fault-proxy.ts";
import { widgetOn } from "../test/support/widget-world.ts";
import type { Random } from "./row.ts";

const settled = { withinMs: 60_000, everyMs: 250 };

/** A page with an origin and a line of its own. */
export interface BrowserLine {
  readonly page: Page;
  readonly url: string;
  readonly proxy: FaultProxy;
}

/** Writes whatever answers, asks for people and leaves them, and loads its page again. */
export class BrowsingVisitor {
  readonly sent: string[] = [];
  readonly line: BrowserLine;
  readonly name: string;
  readonly #widget: ReturnType<typeof widgetOn>;
  readonly #token: string;
  readonly #random: Random;

  constructor(line: BrowserLine, token: string, name: string, random: Random) {
    this.line = line;
    this.name = name;
    this.#token = token;
    this.#widget = widgetOn(line.page);
    this.#random = random;
  }

  async live(isOver: () => boolean): Promise<void> {
    await this.#load();
    for (let number = 0; !isOver(); number++) {
      await Bun.sleep(500 + this.#random.below(3_000));
      await this.#pressIfThere("Try again");
      const whim = this.#random.below(12);
      if (whim === 0) await this.#load();
      if (whim < 3) await this.#pressIfThere("Talk to a person");
      if (whim === 11) await this.#pressIfThere("Back to the assistant");
      await this.#say(`${this.name} says ${number};`);
    }
  }

  async #load(): Promise<void> {
    const { page, url } = this.line;
    const isLoaded = async () => {
      await page.goto(`${url}/c/${this.#token}`, { timeout: 10_000 });
      await this.#widget.input.waitFor({ timeout: 5_000 });
      return true;
    };
    await eventually(() => isLoaded().catch(() => false), { what: `the page of ${this.name}`, ...settled });
  }

  async #pressIfThere(name: string): Promise<void> {
    const button = this.#widget.button(name);
    if (await button.isVisible().catch(() => false)) await button.click({ timeout: 2_000 }).catch(() => {});
  }

  /** What the widget does not take stays in its field. */
  async #say(text: string): Promise<void> {
    const { input, questions } = this.#widget;
    await input.fill(text, { timeout: 10_000 });
    const isTaken = async () => {
      await input.press("Enter", { timeout: 10_000 });
      return (await questions.getByText(text).count()) > 0;
    };
    await eventually(isTaken, { ...settled, everyMs: 100 });
    this.sent.push(text);
  }

  /** Nothing is under way any more. */
  async settle(): Promise<void> {
    const { element, notice } = this.#widget;
    const isSettled = async () => {
      await this.#pressIfThere("Try again");
      const open = await element.locator("[data-state=streaming], [data-state=waiting]").count();
      return open === 0 && !(await notice.getByText("Reconnecting").isVisible());
    };
    await eventually(isSettled, { what: `${this.name} to be settled`, ...settled }).catch(() => {});
  }

  read(): Promise<string[]> {
    return this.#widget.element.locator(".row:not(.intro *) .body:not(.dots):visible").allInnerTexts();
  }
}

/** Opens conversations at random, writes into them and gives them back. */
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
    await this.#noteDraft();
  }

  async read(id: string): Promise<string[]> {
    const { page } = this.line;
    if (!page.url().includes(id)) await this.#load(`/app/inbox?c=${id}`);
    const log = this.#log;
    await log.waitFor({ timeout: 5_000 }).catch(() => {});
    const earlier = page.getByRole("button", { name: "Show earlier messages" });
    if (await earlier.isVisible()) await earlier.click({ timeout: 2_000 }).catch(() => {});
    return await log.locator("> div > div:first-child > :nth-child(2)").allInnerTexts();
  }

  get #log(): Locator {
    return this.line.page.getByRole("log", { name: "Transcript" });
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
    await this.#noteDraft();
    await this.#composer.fill(text, { timeout: 5_000 });
    await this.#composer.press("Enter", { timeout: 5_000 });
    // Beside a refusal, or where another conversation was being opened, it is still a draft.
    await eventually(async () => (await this.#log.getByText(text).count()) > 0, { withinMs: 5_000 });
    this.sent.push(text);
    const sending = page.getByText("Sending…");
    const isOver = async () => (await this.#answerDialog(this.#random.below(2) === 0)) || (await sending.count()) === 0;
    await eventually(isOver, { withinMs: 4_000, everyMs: 50 }).catch(() => {});
    return true;
  }

  /** What is a draft again was not sent, whoever pressed the button: Enter, too, goes to a dialog that has just come. */
  async #noteDraft(): Promise<void> {
    const draft = (await this.#composer.inputValue().catch(() => "")).split("\n");
    for (const text of draft) if (this.sent.includes(text)) this.sent.splice(this.sent.indexOf(text), 1);
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
    await this.#noteDraft();
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
