/** The built-in engine without a provider: scripted, offline, and open about being a demo. */
import type { LlmProvider, ReplyOutcome, ReplyRequest, ReplySink } from "../../contracts/llm/provider.ts";
import { textOf } from "../../domain/conversation.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import { bringsPassages, findQuotation } from "./passages.ts";
import { chooseCall, listAnswered } from "./tools.ts";

export interface DemoOptions {
  /** Delay between two words; 0 in tests. */
  wordDelayMs?: number;
}

export function createDemoProvider({ wordDelayMs = 30 }: DemoOptions = {}): LlmProvider {
  async function streamReply(request: ReplyRequest, sink: ReplySink, signal: StopSignal): Promise<ReplyOutcome> {
    const stopped = Promise.withResolvers<void>();
    const outcome = { usage: null, answeredBy: { provider: "demo", model: request.model }, failure: null };
    const listener = { handleEvent: stopped.resolve };
    signal.addEventListener("abort", listener);
    if (signal.aborted) stopped.resolve();
    try {
      const call = chooseCall(request, findMessage(request));
      if (call !== null) {
        await sleep(wordDelayMs, stopped.promise);
        if (signal.aborted) return { complete: false, finishReason: null, ...outcome };
        return { complete: true, finishReason: "tool_calls", ...outcome, calls: [call] };
      }
      for (const word of splitWords(composeDemoReply(request))) {
        // Before the first word too, so that the response status is seen to wait for it.
        await sleep(wordDelayMs, stopped.promise);
        if (signal.aborted) return { complete: false, finishReason: null, ...outcome };
        const keptUp = sink.emit({ type: "text", deltas: [word] });
        if (keptUp !== undefined) await Promise.race([keptUp, stopped.promise]);
      }
      return { complete: !signal.aborted, finishReason: signal.aborted ? null : "stop", ...outcome };
    } finally {
      signal.removeEventListener("abort", listener);
    }
  }

  const listAnswerers = (model: string) => [{ provider: "demo", model }];
  const listBounds = ({ model, maxOutputTokens }: ReplyRequest) => [
    { answerer: { provider: "demo", model }, maxOutputTokens },
  ];
  return { name: "demo", streamReply, listAnswerers, listBounds, close() {} };
}

const greeting =
  /^\W*(hi|hey|hello|howdy|good (morning|afternoon|evening)|hallo|servus|bonjour|salut|hola|ciao|olá)\b/i;
const askingForHelp =
  /\b(help|what can you do|what do you do|who are you|what are you|how do(es)? (you|this|it) work)\b/i;
const thanks = /\b(thanks|thank you|merci|danke|gracias)\b/i;
const farewell = /^\W*(bye|goodbye|see you|ciao|tschüss|au revoir)\b/i;

const setUp =
  "Set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for a compatible server, and a real language model answers instead.";

function findMessage({ messages }: Pick<ReplyRequest, "messages">): string {
  const last = messages.at(-1);
  return last === undefined ? "" : textOf(last).toWellFormed().trim();
}

/** The reply to the visitor's last message. */
function composeDemoReply(request: ReplyRequest): string {
  const { messages } = request;
  const message = findMessage(request);
  const isFirst = messages.filter((one) => one.role === "user" && !bringsPassages(one)).length <= 1;
  const reminder = isFirst ? ` ${setUp}` : "";
  const answered = listAnswered(request);
  if (answered.length > 0) {
    const quoted = answered.map(({ name, result }) => `\`${name}\` answered:\n\n${quote(result.toWellFormed())}`);
    return `I'm only the **built-in demo**, so I quote the tool's answer. ${quoted.join("\n\n")}${isFirst ? `\n\n${setUp}` : ""}`;
  }
  const quotation = findQuotation(messages.slice(0, -1), message);
  if (quotation !== null) {
    return `I'm only the **built-in demo**, so I quote what was found instead of putting it into words:\n\n${quote(quotation.text)}[${quotation.n}]\n\n${isFirst ? setUp : "A real language model would answer in its own words."}`;
  }
  if (askingForHelp.test(message)) {
    return [
      `I'm **companiond's built-in demo**, not a language model. My lines are scripted, but the path by which they reach you is real:`,
      "",
      "- this reply streams to you word by word,",
      "- our conversation is kept, and counts in the usage of this companion,",
      "- origins, rate limits and the daily quota hold for me as for any model.",
      "",
      setUp,
    ].join("\n");
  }
  if (farewell.test(message)) return "Goodbye! This was the **built-in demo** of companiond. Come back any time.";
  if (greeting.test(message)) {
    return `Hello! I'm **companiond's built-in demo**: I work offline and only know a few scripted lines.${reminder} Ask me *what can you do?*`;
  }
  if (thanks.test(message)) return "You're welcome! A scripted demo like me is easy to please.";
  if (message.endsWith("?")) {
    return `That is a good question, and I'm only the **built-in demo**: I have no knowledge to answer it from. You asked:\n\n${quote(message)}\n\n${isFirst ? setUp : "A real language model would take it from here."}`;
  }
  return `You wrote:\n\n${quote(message)}\n\nI'm **companiond's built-in demo**, so all I can do is to repeat it.${reminder}`;
}

/** The start of a text as a quotation; cut at a code point, so that no character is split. */
function quote(text: string): string {
  const characters = Array.from(text.replace(/\s+/g, " "));
  return `> ${characters.length > 200 ? `${characters.slice(0, 200).join("")}…` : characters.join("")}`;
}

/** Each word with the white space after it. */
function splitWords(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** Resolves after the time, or as soon as it is stopped. */
async function sleep(ms: number, stopped: Promise<void>): Promise<void> {
  const passed = Promise.withResolvers<void>();
  const timer = setTimeout(passed.resolve, ms);
  await Promise.race([passed.promise, stopped]);
  clearTimeout(timer);
}
