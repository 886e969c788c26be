/** What the web build puts instead of these names. */

/** The style sheets, minified. */
declare const LAUNCHER_STYLE: string;
declare const PANEL_STYLE: string;
declare const VOICE_STYLE: string;
declare const REPLY_STYLE: string;
/** File name under `/assets/` of what is behind the launcher, and its hash for `integrity`. */
declare const PANEL_FILE: string;
declare const PANEL_INTEGRITY: string;
/** The same of the SDK, which the panel loads where it needs more than a plain request. */
declare const SDK_FILE: string;
declare const SDK_INTEGRITY: string;
/** The same of what solves challenges, which the panel loads where the server sends one. */
declare const CHALLENGE_FILE: string;
declare const CHALLENGE_INTEGRITY: string;
/** The same of what shows the sources of replies, which the panel loads with the first that has some, and its style. */
declare const CONFIRM_FILE: string;
declare const CONFIRM_INTEGRITY: string;
declare const CONFIRM_STYLE: string;
/** The same of the tools of code and tables, which the panel loads with the first of them, and its style. */
declare const FRAMES_FILE: string;
declare const FRAMES_INTEGRITY: string;
declare const FRAMES_STYLE: string;
declare const SOURCES_FILE: string;
declare const SOURCES_INTEGRITY: string;
declare const SOURCES_STYLE: string;
/** The same of what listens to people, which the panel loads where one may write, and its style. */
declare const LIVE_FILE: string;
declare const LIVE_INTEGRITY: string;
declare const LIVE_STYLE: string;
/** The same of what visitors say of replies and leave for the team, and its style. */
declare const FEEDBACK_FILE: string;
declare const FEEDBACK_INTEGRITY: string;
declare const FEEDBACK_STYLE: string;
/** The same of the line beside the launcher. */
declare const TEASER_FILE: string;
declare const TEASER_INTEGRITY: string;
declare const TEASER_STYLE: string;
/** The same of what a visitor who comes back sees first. */
declare const HOME_FILE: string;
declare const HOME_INTEGRITY: string;
declare const HOME_STYLE: string;
/** File name under `/assets/` of the part that is loaded for voice. */
declare const VOICE_FILE: string;
/** The languages that have a file, separated by spaces, and the hash in the names of all of them. */
declare const LOCALES: string;
declare const LOCALES_HASH: string;
/** File names under `/assets/` of the audio worklets: recording, playing, changing the rate. */
declare const VOICE_FILES: [recorder: string, player: string, resampler: string];
