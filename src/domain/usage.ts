/** Usage: what is counted per UTC day, companion and key. */

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** True where the provider sent none and the figures are UTF-8 bytes / 4. */
  estimated: boolean;
}

export interface UsageCounts {
  messages: number;
  /** The key's own management calls. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
  voiceSessions: number;
  /** Replies that the provider did not give, or not whole. */
  errors: number;
}
