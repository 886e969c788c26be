/** The shop that the demo companion speaks for: its tools, which are answered here, inside the process, and what there is to read of it. */
import type { CallAnswer, HttpTools } from "../../contracts/tool-servers.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { builtInPrefix } from "../../domain/tool.ts";
import { waitFor } from "../../lib/deadline.ts";

export interface DemoTool {
  readonly name: string;
  /** People see that it is a demo wherever a tool is named. */
  readonly title: string;
  /** The demo's model calls by the words of these: they share none with questions that the text answers. */
  readonly description: string;
  readonly parameters: JsonObject;
  readonly url: string;
  readonly confirm: boolean;
}

const hoursUrl = `${builtInPrefix}demo/opening-hours`;
const bookingUrl = `${builtInPrefix}demo/test-ride`;

export const demoTools: readonly DemoTool[] = [
  {
    name: "opening_hours",
    title: "Opening hours (demo)",
    description: "Shows the opening hours, weekday by weekday: open or closed.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
    url: hoursUrl,
    confirm: false,
  },
  {
    name: "book_test_ride",
    title: "Book a test ride (demo)",
    description: "Books a test ride for the visitor.",
    parameters: {
      type: "object",
      properties: {
        bicycle: { enum: ["City bicycle", "E-bike", "Cargo bike"] },
        day: { enum: ["Saturday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"] },
      },
      required: ["bicycle", "day"],
      additionalProperties: false,
    },
    url: bookingUrl,
    confirm: true,
  },
];

export const demoText = {
  title: "The demo's bicycle shop",
  markdown: `# The demo's bicycle shop

Spoke & Bell is made up: companiond's demo speaks for it, so that there is something to ask about.

## Guarantee

New bicycles have a guarantee of five years on the frame, and of two years on all other parts.

Used bicycles have a guarantee of one year, but for tyres, chains and brake pads.

## Rental

A city bicycle costs 18 € for a day, an e-bike 35 €. The deposit is 100 €, and a helmet comes with it.

## Repairs

A flat tyre is repaired while the customer waits. All other repairs take two working days.

## Returns

A bicycle that was not ridden in the street is taken back within 30 days.
`,
};

/** Long enough for a visitor to see that a tool is at work. */
const workMs = 900;

/** Answers what the shop is called for, and leaves the rest to the engine. */
export function withDemoTools(http: HttpTools): HttpTools {
  return {
    ...http,
    async call(server, call, signal) {
      if (!server.url.startsWith(builtInPrefix)) return await http.call(server, call, signal);
      await waitFor(workMs, signal);
      return answer(server.url, call);
    },
  };
}

function answer(url: string, { id, body }: { id: string; body: string }): CallAnswer {
  if (url === hoursUrl) {
    const hours = "Monday to Friday 9:00 to 18:00, Saturday 10:00 to 16:00, closed on Sunday.";
    return { outcome: "done", result: `${hours} ${mark}` };
  }
  if (url === bookingUrl) {
    const { bicycle, day } = readArguments(body);
    // Of the call: the same one is the same booking.
    const reference = `DEMO-${id.slice(-6).toUpperCase()}`;
    return { outcome: "done", result: `Booked: ${bicycle}, ${day} at 10:30, as ${reference}. ${mark}` };
  }
  return { outcome: "failed", sentence: "The tool no longer exists.", reason: "The demo has no such tool." };
}

const mark = "(Demo: answered inside companiond; nothing was sent anywhere.)";

function readArguments(body: string): JsonObject {
  const { data } = JSON.parse(body);
  return isJsonObject(data?.arguments) ? data.arguments : {};
}
