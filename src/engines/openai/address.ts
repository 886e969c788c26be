/** Where OpenAI itself is, for whoever has no other address. Apart from its package, which is loaded late. */
export const openAiUrl = "https://api.openai.com/v1";
