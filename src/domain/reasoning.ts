/** How long a model thinks before it answers, in the words that OpenAI's API and most compatible ones use. */

/** From the least to the most. No model takes all of them. */
export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type ReasoningEffort = (typeof reasoningEfforts)[number];
