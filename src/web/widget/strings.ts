/** The interface's own words in English; other languages are files of the same keys in `locales`. */
import type { launcherEnglish } from "./launcher-strings.ts";

export const english = {
  restart: "New conversation",
  previous: "Back to the previous conversation",
  placeholder: "Write a message…",
  send: "Send",
  stop: "Stop the reply",
  instant: "Usually replies instantly",
  // Where the companion has no own greeting; in English this must be the server's sentence.
  greeting: "Hi, I'm {name}. How can I help you?",
  disclosure: "You are chatting with an AI assistant. It can make mistakes.",
  privacy: "Privacy",
  latest: "Go to the latest message",
  suggestions: "Suggested questions",
  you: "You",
  typing: "{name} is typing",
  looking: "Looking that up…",
  doing: "Doing that…",
  askPerson: "Talk to a person",
  leaveContact: "Leave your email address",
  copy: "Copy",
  copied: "Copied",
  expand: "Expand",
  shut: "Close",
  code: "Code block",
  table: "Table",
  offline: "You are offline.",
  reconnecting: "Reconnecting…",
  checking: "Checking…",
  notDelivered: "Not delivered",
  waitsToSend: "Waiting to be sent",
  remove: "Remove",
  stillWorking: "Still working…",
  queued: "We'll send your message as soon as possible.",
  left: "Characters left: {count}",
  over: "{count} characters too long",
  // By the states of messages.
  stopped: "You stopped the reply.",
  incomplete: "The reply was cut off.",
  connection_lost: "The connection was lost before the reply was complete.",
  reply_failed: "The assistant stopped before its reply was complete.",
  // By the codes of errors.
  origin_not_allowed: "This chat may not be used on this website.",
  not_found: "This chat is no longer available.",
  visitor_unverified: "Please sign in on this website to use the chat.",
  rate_limited: "This chat is very busy at the moment. Try again in {count} s.",
  network_limited: "Too many requests came from this network. Try again in {count} s.",
  waited: "You can try again now.",
  quota_exceeded: "This chat has reached its limit for today. Please come back tomorrow.",
  upstream_error: "The assistant cannot answer right now. Please try again.",
  unavailable: "This chat is unavailable right now. Please try again.",
  timeout: "No answer came in time. Please try again.",
  network: "The connection failed. Please try again.",
  failed: "Something went wrong. Please try again.",
  voiceStart: "Start voice chat",
  voiceConnecting: "Connecting…",
  voiceFailed: "Voice chat could not be started. Please try again.",
};

export type Strings = typeof english & typeof launcherEnglish;

/** Puts the value where the text has `{name}` or `{count}`. */
export function fill(text: string, value: string | number): string {
  return text.replace(/\{\w+\}/, () => String(value));
}
