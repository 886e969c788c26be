/** A page of someone's website with the chat on it, as it is being edited: the widget itself, which asks no server. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { CompanionConfig } from "../../sdk/connection.ts";
import { useSettled } from "../lib/load.ts";
import { Segments } from "../ui/segments.tsx";
import { mountWidget, type PreviewElement } from "../widget-element.ts";

const states = { closed: "Closed", teaser: "Teaser", open: "Open", answering: "Answering" } as const;
type StageState = keyof typeof states;

const isNarrow = matchMedia("(max-width: 36rem)").matches;

interface StageProps {
  /** No token of anyone: nothing is sent with it. */
  token: string;
  config: CompanionConfig;
  /** What a visitor asks in the preview. */
  question: string;
}

export function Stage({ token, config, question }: StageProps) {
  const host = useRef<HTMLDivElement>(null);
  const shown = useRef<PreviewElement | null>(null);
  const [state, setState] = useState<StageState>("open");
  const [ground, setGround] = useState<"light" | "dark">("light");
  const [size, setSize] = useState<"desktop" | "phone">(isNarrow ? "phone" : "desktop");
  const [hasFailed, setHasFailed] = useState(false);
  const settled = useSettled(
    JSON.stringify({
      ...config,
      ...(state === "teaser" ? {} : { appearance: { ...config.appearance, teaser: undefined } }),
    }),
    120,
  );
  // What a page may not change while it is shown.
  const made = JSON.stringify([state, ground, size, config.appearance?.position, state === "teaser" && settled]);

  useEffect(() => {
    let isWanted = true;
    const parsed: CompanionConfig = JSON.parse(settled);
    mountWidget(host.current, token, (element) => {
      const isFilled = size === "phone" && (state === "open" || state === "answering");
      // Not "page", which is as high as the window.
      element.setAttribute("mode", isFilled ? "inline" : "launcher");
      element.toggleAttribute("boxed", !isFilled);
      // As the visitor's system has it, unless the owner decides.
      if (!parsed.appearance?.theme || parsed.appearance.theme === "auto") element.setAttribute("theme", ground);
      const { teaser } = parsed.appearance ?? {};
      element.config = teaser
        ? { ...parsed, appearance: { ...parsed.appearance, teaser: { ...teaser, after_seconds: 0 } } }
        : parsed;
      element.fetch = answerSlowly;
    }).then(
      (element) => {
        if (!isWanted || element === null) return element?.remove();
        shown.current = element;
        setHasFailed(false);
        if (state === "open") element.open();
        if (state === "answering") void element.send(question);
      },
      () => setHasFailed(true),
    );
    return () => {
      isWanted = false;
      shown.current?.remove();
      shown.current = null;
    };
  }, [made, token, question]);
  useEffect(() => {
    if (shown.current && state !== "teaser") shown.current.config = JSON.parse(settled);
  }, [settled, state]);

  return (
    <section aria-label="Preview" class="min-w-0">
      <div class="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Segments label="State" value={state} onValue={(next) => setState(next)} options={states} />
        <div class="flex flex-wrap gap-2">
          <Segments
            label="Page"
            value={ground}
            onValue={(next) => setGround(next)}
            options={{ light: "Light", dark: "Dark" }}
          />
          {!isNarrow && (
            <Segments
              label="Screen"
              value={size}
              onValue={(next) => setSize(next)}
              options={{ desktop: "Desktop", phone: "Phone" }}
            />
          )}
        </div>
      </div>
      {hasFailed && <p class="text-bad">The preview could not be loaded. Reload the page to try again.</p>}
      <div
        class={`stage relative mx-auto h-[clamp(24rem,calc(100dvh-18rem),44rem)] max-sm:h-[22.5rem] overflow-hidden rounded-2xl border border-line [contain:paint] ${
          size === "phone" ? "w-[22.5rem] max-w-full" : "w-full"
        } ${ground === "dark" ? "bg-[#101216]" : "bg-[#fff]"}`}
      >
        <div aria-hidden="true" class={`space-y-4 p-8 ${ground === "dark" ? "opacity-15" : "opacity-60"}`}>
          <div class="flex items-center justify-between">
            <span class="h-5 w-12 rounded-md bg-[#e3e5ec]" />
            <span class="h-3 w-48 rounded-md bg-[#e3e5ec]" />
          </div>
          <div class="h-28 rounded-2xl bg-[#eceef4]" />
          {["one", "two", "three"].map((line) => (
            <div key={line} class="h-3 rounded-md bg-[#e3e5ec]" />
          ))}
          <div class="grid grid-cols-3 gap-4 pt-4">
            {["first", "second", "third"].map((card) => (
              <div key={card} class="h-28 rounded-2xl bg-[#eceef4]" />
            ))}
          </div>
        </div>
        {/* To be seen: the playground is there to chat. */}
        <div ref={host} inert class="absolute -inset-px [--companion-height:100%]" />
      </div>
    </section>
  );
}

const words =
  "Happy to help! Standard shipping takes **two to three working days**. Express parcels leave today if you order before 2 pm.".split(
    /(?<=\s)/,
  );

/** A reply that arrives word by word, and then goes on being awaited. */
async function answerSlowly(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  if (!String(input).endsWith("/chat"))
    return new Response("{}", { status: 404, headers: { "content-type": "application/json" } });
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const text of words) {
        await new Promise((resolve) => setTimeout(resolve, 90));
        if (init?.signal?.aborted) return;
        controller.enqueue(encoder.encode(`data: ${JSON.stringify({ text })}\n\n`));
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream", "x-session-id": crypto.randomUUID() } });
}
