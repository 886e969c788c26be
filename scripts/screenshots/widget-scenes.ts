/** The widget on a shop's page, and the companion's own page. */
import type { Page } from "playwright-core";
import { type Widget, widgetOn } from "../../test/support/widget-world.ts";
import type { Scene } from "./scene.ts";
import type { ScreenshotWorld } from "./world.ts";

export function widgetScenes({ server, companion, tinted, speaking, voiceSocket, shopUrl }: ScreenshotWorld): Scene[] {
  const on = (name: string, act: (page: Page) => Promise<unknown>, url = shopUrl): Scene => ({
    name: `widget-${name}`,
    url,
    isSignedIn: false,
    async ready(page) {
      await page.unrouteAll();
      // Each begins as a new visitor.
      await page.evaluate("localStorage.clear(), sessionStorage.clear()");
      await page.reload();
      await act(page);
    },
  });
  const open = async (page: Page) => {
    const widget = widgetOn(page);
    await widget.open();
    await widget.input.waitFor();
    return widget;
  };
  const ask = async (page: Page, ...messages: string[]) => {
    const widget = await open(page);
    for (const [index, message] of messages.entries()) {
      await widget.askWhenKnown(message);
      await widget.replied(index + 1);
    }
    return widget;
  };
  const call = (state: string, act: (widget: Widget) => unknown, sentence: string): Scene =>
    on(
      `voice-${state}`,
      async (page) => {
        const widget = await open(page);
        await widget.button("Start voice chat").click();
        const shows = (text: string) => widget.element.locator(".voice").getByText(text, { exact: true }).waitFor();
        await shows("Listening");
        await act(widget);
        await shows(sentence);
      },
      `${shopUrl}?token=${speaking.embed_token}`,
    );
  const speak = () => voiceSocket.speak("Of course! Your bicycle is ready on Friday, from nine in the morning.", 4000);
  return [
    on("launcher", (page) => widgetOn(page).launcher.waitFor()),
    on("open", open),
    on("short", (page) => ask(page, "When are you open on Saturdays?")),
    on("rich", (page) => ask(page, "How do returns work?")),
    on("code", (page) => ask(page, "Show me the API")),
    on("long", (page) => ask(page, "Do you repair e-bikes?", "How long does shipping take?", "How do returns work?")),
    on("person", async (page) => {
      const widget = await ask(page, "Do you repair e-bikes?");
      await widget.button("Talk to a person").click();
      await page.locator(".team").getByText("The team has been asked.").waitFor();
    }),
    call("listening", () => {}, "Listening"),
    call("speaking", speak, "Hotline is speaking"),
    call("muted", (widget) => widget.button("Mute microphone").click(), "Muted"),
    call("ended", (widget) => widget.button("End voice chat").click(), "Voice chat ended"),
    on("failed", async (page) => {
      const widget = await ask(page, "When are you open on Saturdays?");
      await page.route("**/chat", (route) => route.fulfill({ status: 502, json: { code: "upstream_error" } }));
      await widget.ask("Do you repair e-bikes?");
      await page.getByText("Not delivered").waitFor();
    }),
    on("home", async (page) => {
      const widget = await ask(page, "When are you open on Saturdays?");
      await widget.button("New conversation").click();
      await widget.askWhenKnown("How long does shipping take?");
      await widget.replied();
      await widget.button("New conversation").click();
      await widget.launcher.or(widget.button("Close chat")).first().click();
      await page.reload();
      await widget.open();
      await page.getByText("Continue").waitFor();
    }),
    on("loading", async (page) => {
      await page.route("**/assets/panel.*.js", () => {});
      await page.reload();
      await widgetOn(page).open();
      await page.getByText("Loading…").waitFor();
    }),
    on("reconnecting", async (page) => {
      const widget = await ask(page, "When are you open on Saturdays?");
      const headers = { "Access-Control-Allow-Origin": "*", "Content-Type": "text/event-stream" };
      await page.route(/\/(chat|replies)/, (route) => route.fulfill({ headers, body: "data: {}\n\n" }), { times: 1 });
      await widget.ask("Do you repair e-bikes?");
      await widget.notice.getByText("Reconnecting…").waitFor();
    }),
    on(
      "teaser",
      (page) => page.getByText("Questions about sizes?").waitFor(),
      `${shopUrl}?token=${tinted.embed_token}`,
    ),
    on("tinted", (page) => ask(page, "How long does shipping take?"), `${shopUrl}?token=${tinted.embed_token}`),
    on("again", async (page) => {
      await ask(page, "When are you open on Saturdays?");
      await page.reload();
      await widgetOn(page).input.waitFor();
    }),
    {
      name: "hosted",
      url: `${server.url}/c/${companion.embed_token}`,
      isSignedIn: false,
      ready: (page) => widgetOn(page).input.waitFor(),
    },
  ];
}
