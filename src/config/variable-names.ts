/** Which names of variables are settings, and what is reported of those that are not. */
import { findNearest } from "../lib/edit-distance.ts";
import { mayRepeat } from "./env-file.ts";
import { takesFile } from "./setting.ts";
import { allSettings } from "./settings.ts";

/** What a name that is no setting is: wrong, or of no effect here. */
export interface NameVerdict {
  readonly isProblem: boolean;
  readonly sentence: string;
}

/** Of the environment only these are checked: it has names of every other program too. */
const prefixes = ["COMPANIOND_", "OPENAI_", "ELEVENLABS_"];
const knownNames: readonly string[] = allSettings.flatMap((one) =>
  takesFile(one) ? [one.variable, `${one.variable}_FILE`] : [one.variable],
);

/**
 * What OpenAI's own libraries and agents read, and how to have the same here. ElevenLabs' libraries read nothing that is no
 * setting. `OPENAI_API_BASE` is not among them: it was the address once, and operators who set it want requests to go
 * there.
 */
const namesOfLibraries = new Map<string, string>([
  ["OPENAI_ORG_ID", sendAs("OpenAI-Organization")],
  ["OPENAI_ORGANIZATION", sendAs("OpenAI-Organization")],
  ["OPENAI_PROJECT_ID", sendAs("OpenAI-Project")],
  ["OPENAI_PROJECT", sendAs("OpenAI-Project")],
  ["OPENAI_CUSTOM_HEADERS", " For headers, set COMPANIOND_LLM_HEADERS."],
  ["OPENAI_DEFAULT_MODEL", " For the model, set COMPANIOND_MODEL."],
  ["OPENAI_LOG", ""],
  ["OPENAI_ADMIN_KEY", ""],
  ["OPENAI_API_TYPE", ""],
  ["OPENAI_API_VERSION", ""],
  ["OPENAI_WEBHOOK_SECRET", ""],
  ["OPENAI_AGENTS_DISABLE_TRACING", ""],
  ["OPENAI_AGENTS_DONT_LOG_MODEL_DATA", ""],
  ["OPENAI_AGENTS_DONT_LOG_TOOL_DATA", ""],
]);

/** What the runtime and the C library read from the environment of the process, where an env file never gets. */
const namesOfRuntime = /^(?:(?:NODE|BUN)_.+|SSL_CERT_(?:FILE|DIR)|(?:HTTPS?|ALL|NO)_PROXY|TZ|TMPDIR|LANG|LC_.+|PATH)$/i;

/** Null for settings, and for what other programs may have there. */
export function judgeOfEnvironment(name: string): NameVerdict | null {
  return prefixes.some((prefix) => name.startsWith(prefix)) ? judge(name) : null;
}

/** Null for settings. Anything else in an env file is a mistake: no other program reads it. */
export function judgeOfEnvFile(name: string): NameVerdict | null {
  if (!mayRepeat(name)) return problem("what is before the = is no setting.");
  if (!namesOfRuntime.test(name)) return judge(name);
  return problem(
    `${name} has no effect in an env file, which only companiond reads. Set it in the environment of the process: ` +
      "Environment= in a systemd unit, --env for docker run.",
  );
}

function judge(name: string): NameVerdict | null {
  if (knownNames.includes(name)) return null;
  const instead = namesOfLibraries.get(name);
  if (instead === undefined) return problem(`${name} is not a setting. ${adviseOn(name)}`);
  return { isProblem: false, sentence: `${name} has no effect: only OpenAI's own libraries read it.${instead}` };
}

function problem(sentence: string): NameVerdict {
  return { isProblem: true, sentence };
}

function sendAs(header: string): string {
  return ` To send it, set COMPANIOND_LLM_HEADERS to {"${header}":"…"}.`;
}

function adviseOn(name: string): string {
  if (name === "OPENAI_API_BASE") return "Did you mean OPENAI_BASE_URL?";
  const meant = findMeant(name);
  return meant === null ? "See companiond serve --help for those that there are." : `Did you mean ${meant}?`;
}

/** COMPANIOND_PORT means PORT, OPENAI_MODEL and MODEL mean COMPANIOND_MODEL. What many names begin with brings none nearer. */
function findMeant(name: string): string | null {
  const known = new Map(knownNames.map((one) => [withoutPrefix(one, "COMPANIOND_"), one]));
  for (const prefix of ["", ...prefixes]) {
    const exact = known.get(withoutPrefix(name, prefix));
    if (exact !== undefined) return exact;
  }
  return known.get(findNearest(withoutPrefix(name, "COMPANIOND_"), known.keys()) ?? "") ?? null;
}

function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}
