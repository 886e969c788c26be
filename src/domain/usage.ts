/** Usage: what is counted per UTC day, companion and key. */

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** True if the provider sent no counts and these are estimates: UTF-8 bytes / 4. */
  estimated: boolean;
}

export interface UsageCounts {
  messages: number;
  /** The key's own management calls. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
  voiceSessions: number;
  /** Replies that failed or stayed incomplete because of the provider. */
  errors: number;
}
