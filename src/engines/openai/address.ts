/** Where OpenAI itself is, for configurations without another address. Apart from its package, which is loaded late. */
export const openAiUrl = "https://api.openai.com/v1";
