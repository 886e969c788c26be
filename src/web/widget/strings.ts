/** The interface's own words in English; other languages are files of the same keys in `locales`. */

export const english = {
  open: "Open chat",
  close: "Close chat",
  newConversation: "New conversation",
  conversation: "Conversation",
  placeholder: "Write a message…",
  message: "Message",
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
  retry: "Try again",
  cut: "The reply was cut off.",
  stopped: "You stopped the reply.",
  offline: "You are offline. Messages can be sent once the connection is back.",
  charactersLeft: "Characters left: {count}",
  charactersOver: "Characters too many: {count}",
  forbidden: "This chat may not be used on this website.",
  notFound: "This chat is no longer available.",
  busy: "Too many messages at the moment. Try again in {seconds} s.",
  busyOver: "Too many messages at the moment. You can try again now.",
  quota: "This chat has answered all its messages for today. Please come back tomorrow.",
  upstream: "The assistant cannot answer right now. Please try again.",
  network: "The connection failed. Please try again.",
  failed: "Something went wrong. Please try again.",
  voiceStart: "Start voice chat",
  voiceConnecting: "Connecting…",
  voiceListening: "Listening…",
  voiceSpeaking: "Speaking…",
  voiceMuted: "Microphone muted",
  voiceEnded: "Voice chat ended",
  voiceMute: "Mute microphone",
  voiceUnmute: "Unmute microphone",
  voiceEnd: "End voice chat",
  microphoneRefused: "The microphone is blocked. Allow it in the browser's settings for this page and try again.",
  microphoneMissing: "No microphone was found.",
  voiceFailed: "The voice chat could not be started. Please try again.",
};

export type Strings = typeof english;

/** Puts values where the text has `{name}`. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
