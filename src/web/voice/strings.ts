/** The texts of a voice session in English: loaded with it, and overridable like all others. */

export const voiceEnglish = {
  voiceListening: "Listening",
  voiceSpeaking: "{name} is speaking",
  voiceMuted: "Muted",
  voiceEnded: "Voice chat ended",
  voiceMute: "Mute microphone",
  voiceUnmute: "Unmute microphone",
  voiceEnd: "End voice chat",
  voiceUsedUp: "Voice chat is used up for today. Please come back tomorrow.",
  microphoneRefused: "The microphone is blocked. Allow it in the browser's settings for this page, then try again.",
  microphoneMissing: "No microphone was found. Connect one, then try again.",
};
