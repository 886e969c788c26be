/** Bounds what long prompts hold in memory while they are answered: a caller may send a megabyte, hundreds of times. */
import { textOf } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import { type BudgetShare, SharedBudget } from "../../lib/shared-budget.ts";
import type { GivenPrompt } from "./turn-start.ts";

const mebibyte = 1024 * 1024;
/** A message beside its text: some objects, so that a million empty ones are not free. */
const messageBytes = 200;

export function createPromptMemory(): SharedBudget {
  return new SharedBudget({ total: 128 * mebibyte, ofOne: 64 * mebibyte });
}

/** To be released. Throws `rate_limited` if there is no room. */
export function holdPrompt(memory: SharedBudget, owner: string, prompt: GivenPrompt): BudgetShare {
  const held = memory.open(owner);
  if (held.growTo(sizeOf(prompt))) return held;
  throw new AppError("rate_limited", "Too many long prompts are being answered. Try again shortly.", {
    retryAfterSeconds: 1,
  });
}

/** At two bytes a character, which most texts need for a while: once as text, and once on their way to the provider. */
function sizeOf({ instructions, messages, stop }: GivenPrompt): number {
  const texts = [...instructions, ...stop, ...messages.map(textOf)];
  return texts.reduce((sum, text) => sum + text.length * 2 + messageBytes, 0);
}
