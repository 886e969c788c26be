/** The interface's own words in English; other languages are files of the same keys in `locales`. */

export const english = {
  dir: "ltr",
  open: "Open chat",
  close: "Close chat",
  restart: "New conversation",
  conversation: "Conversation",
  placeholder: "Write a message…",
  send: "Send",
  stop: "Stop the reply",
  assistant: "AI assistant",
  disclosure: "You are chatting with an AI assistant. It can make mistakes.",
  privacy: "Privacy",
  suggestions: "Suggested questions",
  you: "You",
  typing: "{name} is typing",
  copy: "Copy",
  copied: "Copied",
  code: "Code block",
  table: "Table",
  retry: "Try again",
  offline: "You are offline. Messages can be sent once the connection is back.",
  left: "Characters left: {count}",
  over: "Over the limit by {count}",
  stopped: "You stopped the reply.",
  // By the codes of errors.
  incomplete: "The reply was cut off.",
  origin_not_allowed: "This chat may not be used on this website.",
  not_found: "This chat is no longer available.",
  rate_limited: "Too many messages at the moment. Try again in {count} s.",
  waited: "Too many messages at the moment. You can try again now.",
  quota_exceeded: "This chat has answered all its messages for today. Please come back tomorrow.",
  upstream_error: "The assistant cannot answer right now. Please try again.",
  network: "The connection failed. Please try again.",
  failed: "Something went wrong. Please try again.",
  voiceStart: "Start voice chat",
  voiceConnecting: "Connecting…",
  voiceFailed: "Voice chat could not be started. Please try again.",
};

export type Strings = typeof english;

/** Puts the value where the text has `{name}` or `{count}`. */
export function fill(text: string, value: string | number): string {
  return text.replace(/\{\w+\}/, () => String(value));
}
