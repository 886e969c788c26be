/** Which API of OpenAI's a provider is asked by; `auto` leaves it to the provider's address. */
export const llmApis = ["auto", "responses", "chat"] as const;

export type LlmApi = (typeof llmApis)[number];
