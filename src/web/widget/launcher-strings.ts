/** The words that are needed before the panel's own have come, in English. */

export const launcherEnglish = {
  dir: "ltr",
  open: "Open chat",
  close: "Close chat",
  conversation: "Conversation",
  assistant: "AI assistant",
  loading: "Loading…",
  notLoaded: "The chat could not be loaded. Please try again.",
  retry: "Try again",
  unread: "New messages: {count}",
  dismiss: "Dismiss",
};
