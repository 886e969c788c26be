/** The words of home in English. */

export const homeEnglish = {
  continue: "Continue",
  earlier: "Earlier conversations",
};
