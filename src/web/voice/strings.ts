/** The texts of a voice session in English: loaded with it, and overridable like all others. */

export const voiceEnglish = {
  voiceListening: "Listening…",
  voiceSpeaking: "Speaking…",
  voiceMuted: "Microphone muted",
  voiceEnded: "Voice chat ended",
  voiceMute: "Mute microphone",
  voiceUnmute: "Unmute microphone",
  voiceEnd: "End voice chat",
  voiceUsedUp: "Voice chat is used up for today. Please come back tomorrow.",
  microphoneRefused: "The microphone is blocked. Allow it in the browser's settings for this page and try again.",
  microphoneMissing: "No microphone was found.",
};

export type VoiceStrings = typeof voiceEnglish;
