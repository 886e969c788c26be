/** The call by which a model asks for a person: built in, and answered by the server, which ends the reply with it. */
import { type AskedCall, type OfferedTool, personTool, readArguments } from "../../domain/tool.ts";

/** As a visitor's own. */
const maxReasonUnits = 500;

export const offeredPerson: OfferedTool = {
  name: personTool,
  description:
    "Asks a person of the team to take over this conversation. Call it when the visitor wants to talk to a person, or needs " +
    "something that you cannot do and a person could. Your reply ends with the call: the server adds whether someone " +
    "comes.",
  parameters: {
    type: "object",
    properties: { reason: { type: "string", description: "Why, in one sentence, for the team." } },
  },
};

/** Null for a call of another tool. Its reason is null where the model gave none. */
export function readAsk(call: AskedCall): { readonly reason: string | null } | null {
  if (call.name !== personTool) return null;
  const { reason } = readArguments(call.arguments) ?? {};
  const text =
    typeof reason === "string" ? reason.replaceAll("\0", "").trim().slice(0, maxReasonUnits).toWellFormed() : "";
  return { reason: text === "" ? null : text };
}
