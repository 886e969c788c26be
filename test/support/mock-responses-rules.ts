/** What the Responses API refuses of any request, for every model. */
import { openAiError, type Refusal } from "./mock-models.ts";
import { refuseItems } from "./mock-tools.ts";

const known = new Set(
  [
    "background context_management conversation include input instructions max_output_tokens max_tool_calls metadata",
    "model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options",
    "prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text",
    "tool_choice tools top_logprobs top_p truncation user",
  ].flatMap((line) => line.split(" ")),
);
const knownMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  reasoning: new Set(["effort", "summary", "generate_summary", "context", "mode"]),
  stream_options: new Set(["include_obfuscation"]),
  text: new Set(["format", "verbosity"]),
};
const roles = new Set(["user", "assistant", "system", "developer"]);

export function refuseAsResponse(body: Record<string, unknown>): Refusal | null {
  for (const [name, value] of Object.entries(body)) {
    if (!known.has(name)) return unknown(name);
    const members = typeof value === "object" && value !== null ? knownMembers[name] : undefined;
    const stranger = members && Object.keys(value as object).find((member) => !members.has(member));
    if (stranger) return unknown(`${name}.${stranger}`);
  }
  const { max_output_tokens: bound, input } = body;
  if (typeof bound === "number" && bound < 16) {
    const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${bound} instead.`;
    return openAiError(400, message, "max_output_tokens", "integer_below_min_value");
  }
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    if ((item.type ?? "message") === "message" && !roles.has(item.role)) {
      const message = `Invalid value: '${item.role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`;
      return openAiError(400, message, `input[${index}].role`, "invalid_value");
    }
  }
  return refuseItems(body);
}

function unknown(name: string): Refusal {
  return openAiError(400, `Unknown parameter: '${name}'.`, name, "unknown_parameter");
}
