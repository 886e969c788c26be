/** The words around people of the team, in English: loaded with what listens to them, and overridable like all others. */

export const peopleEnglish = {
  personWaiting: "The team has been asked. You can go on writing.",
  // In the header, where it otherwise shows who answers.
  personWaitingShort: "Waiting for a person…",
  personUntil: "If no one joins by {time}, the assistant answers.",
  personHere: "You are chatting with {name} from the team.",
  personLeft: "The person has left. The assistant answers again.",
  personBack: "The assistant answers again.",
  personMissed: "No one could join. The assistant answers again.",
  personAway: "No one is available at the moment.",
  personReopens: "The team is back: {time}.",
  backToCompanion: "Back to the assistant",
  soundOn: "Turn sound on",
  soundOff: "Turn sound off",
};

/** Of what visitors say of replies, and leave for the team. */
export const feedbackEnglish = {
  rateUp: "Good reply",
  rateDown: "Bad reply",
  rateWhy: "What was wrong?",
  rateThanks: "Thank you for your feedback.",
  rateFailed: "That could not be sent. Please try again.",
  wrong: "It is wrong",
  // Not that of a reply that was cut off.
  isIncomplete: "Something is missing",
  unclear: "Hard to understand",
  off_topic: "Not what I asked",
  other: "Something else",
  comment: "Comment (optional)",
  sendFeedback: "Send feedback",
  resolvedAsk: "Is this resolved?",
  resolvedYes: "Yes",
  resolvedNo: "No",
  contactEmail: "Email address",
  contactName: "Name (optional)",
  contactMessage: "Message (optional)",
  contactSend: "Send to the team",
  contactSent: "Thank you. The team will write to you.",
  contactClose: "Cancel",
};
