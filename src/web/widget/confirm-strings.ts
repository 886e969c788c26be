/** The words of what a visitor is to confirm, in English: loaded with the first such call, and overridable like all others. */

export const confirmEnglish = {
  confirmAsk: "Shall I do this?",
  confirmYes: "Confirm",
  // Not "Cancel", which may be what is asked.
  confirmNo: "Decline",
  confirmed: "Confirmed",
  declined: "Declined",
  decided: "Already decided elsewhere.",
  expired: "Expired. Ask again if you still want it.",
  showAll: "Show all",
  showLess: "Show less",
  yes: "yes",
  no: "no",
};
