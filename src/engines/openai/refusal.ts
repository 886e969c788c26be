/** Reads from a provider's refusal which part of a request the model does not take, if it is one to do without. */
import { type ReplyRequest, textsOf } from "../../contracts/llm/provider.ts";
import type { ProviderFailure } from "../../contracts/llm/provider-failure.ts";
import { type ReasoningEffort, reasoningEfforts } from "../../domain/reasoning.ts";
import { type Lesson, type Optional, optionals } from "./model-facts.ts";
import type { CallPlan, Wire } from "./wire.ts";

/** What was refused. */
export interface RefusedCall {
  readonly request: ReplyRequest;
  readonly plan: CallPlan;
  readonly wire: Wire["name"];
  /** Whether the model may be asked over the other wire. */
  readonly mayChangeWire: boolean;
  /** Whether the model has been seen to accept tools. */
  readonly hasAcceptedTools: boolean;
}

/** What a model's template refuses is an error of the server's own to some. */
const teaching: ReadonlySet<number | null> = new Set([400, 404, 422, 500]);

/** A member whose name is a word that people use: in quotation marks, or where providers put the name of a member. */
const member = (name: string) =>
  new RegExp(
    `['"\`]${name}['"\`]|\\bbody\\.${name}\\b|\\b(parameter|argument|property|supplied:|this model:) ${name}\\b|\\b${name}: extra\\b`,
    "gi",
  );

/** As providers name them: in `param`, and in sentences. Ollama and Google name what they make of an effort. */
const namesOf: Readonly<Record<Optional, { param: RegExp; words: RegExp }>> = {
  temperature: { param: /^temperature$/, words: /\btemperature\b/gi },
  effort: {
    param: /^reasoning(_effort|\.effort)?$/,
    words:
      /\breasoning[_.]?effort\b|['"`]reasoning['"`]|\b(think|reasoning) value\b|(\bnot|n['’]t) support thinking\b|\bthinking (level|is not (supported|enabled|available|allowed))\b/gi,
  },
  stop: { param: /^stop$/, words: member("stop") },
  stream_options: { param: /^stream_options\b/, words: /\bstream_options\b|\binclude_obfuscation\b/gi },
  store: { param: /^store$/, words: member("store") },
  include: { param: /^include\b/, words: /['"`]include['"`]|\bencrypted[ _]content\b/gi },
  form: {
    param: /^(response_format|text)\b/,
    words: /\bresponse[ _]format\b|\bjson[ _]schema\b|\btext\.format\b|\bstructured outputs?\b/gi,
  },
  tools: {
    param: /^(tools|tool_choice|functions)\b|^messages\b.*tool/,
    words:
      /\btools?\b|\bschema for function\b|\btool_?(choice|calls?|use|config|results?)\b|\bfunction[ _-]call(s|ing)?\b/gi,
  },
};
const anyEffort = /\breasoning[_. ]?effort\b/gi;
/** Of tools in general; the schema or the name of one tool is no sign for the others. */
const aboutSupport =
  /support|enable|require|available|unknown|unrecognized|unexpected|not (permitted|allowed|implemented)|forbidden/i;
const aboutOneTool = /\bschema\b|\binvalid (function|tool|type|value)|\bnot found\b/i;
const besideTools = optionals.filter((optional) => optional !== "tools");
const olderBound = /\bmax_tokens\b/gi;
const newerBound = /\bmax_completion_tokens\b/gi;
const unknownMember =
  /unsupported|not supported|unknown|unrecognized|unexpected|extra.?(inputs|forbidden)|not permitted/i;
const refusedRole =
  /(system|developer)\W+(role|messages?|instructions?)\b.*\bnot\b|(not?|n['’]t) support\W+(the\W+)?(system|developer)|\brole\W+(system|developer)\b.*\bnot\b|(unsupported|unknown|invalid) (role|variant)\W+(system|developer)|only user and assistant roles|unexpected (message )?role/gi;
/** The parameter is known, and its value out of range: others may be accepted. */
const outOfRange = /\b(above|below|maximum|minimum|between|range|less than|greater than|at most|at least)\b|<=|≤/i;
const anyBound = /^max_(completion_|output_)?tokens$/;
const boundOrContext = /\bmax_(completion_|output_)?tokens\b|\bcontext (length|window)\b/gi;
const tooLarge = /too (large|high)|at most|maximum|exceed|less than|valid range|<=|≤/i;
const turnsOfRoles = /\broles? must alternate\b/gi;

/** Null where nothing is named that can be done without. `failure.message` has no whole words of the request. */
export function readLesson(failure: ProviderFailure, call: RefusedCall): Lesson | null {
  const { status, kind, param, message } = failure;
  if (!teaching.has(status) || kind === "filtered") return null;
  const { request, plan, wire } = call;
  const names = (words: RegExp) => isNamed(message, words, request);
  if (call.mayChangeWire && names(/\bv1\/responses\b/gi)) return { wire: "responses" };
  const toolLesson = readToolEffort(failure, plan, names);
  if (toolLesson !== null) return toolLesson;
  if (plan.maxOutputTokens > request.maxOutputTokens && isTooLarge(failure, names)) {
    // What is left of its context depends on the prompt.
    return { takesRoom: false, ...(/context/i.test(message) ? { isPassing: true } : {}) };
  }

  const refused = besideTools.filter((optional) => isSent(optional, plan) && isBlamed(optional, param, names));
  const lesson: { -readonly [Name in keyof Lesson]: Lesson[Name] } = {};
  if (refused.includes("effort")) {
    const efforts = listEfforts(message, plan.effort);
    if (efforts.length > 0) lesson.efforts = efforts;
  }
  const gone = refused.filter((optional) => optional !== "effort" || lesson.efforts === undefined);
  if (gone.length > 0) lesson.refused = gone;
  if (refused.length === 1 && refused[0] === "temperature" && outOfRange.test(message)) lesson.isPassing = true;
  if (wire === "chat") {
    const boundName = readBoundName(failure, plan, names, refused.length === 0);
    if (boundName !== null) lesson.boundName = boundName;
    const isRole = param === null ? names(refusedRole) : /^messages\W?\d+\W*role$/.test(param);
    if (isRole && request.systemPrompt !== null && plan.systemRole !== "user") {
      lesson.systemRole = plan.systemRole === "system" ? "developer" : "user";
    }
  }
  if (names(turnsOfRoles)) {
    if (!plan.joinsRoles && hasRepeatedRole(request)) lesson.joinsRoles = true;
    // Templates that know no system prompt count it as one of the turns.
    else if (wire === "chat" && request.systemPrompt !== null && plan.systemRole !== "user") lesson.systemRole = "user";
  }
  return Object.keys(lesson).length === 0 ? readToolRefusal(failure, call, names) : lesson;
}

/** OpenAI's newer models call tools in chats only where they do not think. */
function readToolEffort(
  { param, message }: ProviderFailure,
  { tools, effort }: CallPlan,
  isNamed: (words: RegExp) => boolean,
): Lesson | null {
  if (tools.length === 0 || effort === "none" || !/\bnone\b/i.test(message)) return null;
  const isAboutEffort = isNamed(anyEffort) || namesOf.effort.param.test(param ?? "");
  return isAboutEffort && isNamed(/\btools?\b/gi) ? { toolEffort: "none" } : null;
}

/** The reply goes on without tools, even if the model knows something of them; kept only where it takes none at all. */
function readToolRefusal(
  failure: ProviderFailure,
  { plan, hasAcceptedTools }: RefusedCall,
  isNamed: (words: RegExp) => boolean,
): Lesson | null {
  const { param, message, isByRequest } = failure;
  if (isByRequest || failure.code === "context_length_exceeded" || /context length/i.test(message)) return null;
  if (!isSent("tools", plan) || !isBlamed("tools", param, isNamed)) return null;
  // Rounds may be refused for what they lack, such as thoughts that another provider's model would have signed.
  const isOfOne = plan.rounds.length > 0 || hasAcceptedTools || /\d/.test(param ?? "") || aboutOneTool.test(message);
  const isOfAll = !isOfOne && aboutSupport.test(message);
  return { refused: ["tools"], ...(isOfAll ? {} : { isPassing: true as const }) };
}

/** Whether it blames what every request has, which one more call cannot leave out. */
export function isAboutForm({ boundName, systemRole, joinsRoles, takesRoom }: Lesson): boolean {
  return [boundName, systemRole, joinsRoles, takesRoom].some((one) => one !== undefined);
}

/** Whether it blames tools, which no call leaves out before they are blamed. */
export function isAboutTools({ toolEffort, refused }: Lesson): boolean {
  return toolEffort !== undefined || refused?.includes("tools") === true;
}

function isSent(optional: Optional, plan: CallPlan): boolean {
  switch (optional) {
    case "temperature":
      return plan.temperature !== null || "temperature" in plan.extra;
    case "effort":
      return plan.effort !== null || "reasoning_effort" in plan.extra || "reasoning" in plan.extra;
    case "stop":
      return plan.stop.length > 0 || "stop" in plan.extra;
    case "stream_options":
      return plan.sendsStreamOptions;
    case "store":
      return plan.sendsStore || "store" in plan.extra;
    case "include":
      return plan.sendsInclude;
    case "form":
      return plan.form !== null;
    case "tools":
      return plan.tools.length > 0 || (plan.rounds.length > 0 && !plan.flattensRounds);
  }
}

/** A provider that names a member in `param` blames that one, no matter what else the message mentions. */
function isBlamed(optional: Optional, param: string | null, isNamed: (words: RegExp) => boolean): boolean {
  const { param: ofParam, words } = namesOf[optional];
  return param === null ? isNamed(words) : ofParam.test(param);
}

/** Whether the bound is blamed for its size; some blame the messages, which leave too little of the context for it. */
function isTooLarge({ param, code, message }: ProviderFailure, isNamed: (words: RegExp) => boolean): boolean {
  if (code === "context_length_exceeded") return true;
  return (param === null ? isNamed(boundOrContext) : anyBound.test(param)) && tooLarge.test(message);
}

/** Those that a message offers instead of the one that was sent. */
function listEfforts(message: string, sent: ReasoningEffort | null): ReasoningEffort[] {
  const [, offered = ""] =
    /\b(?:(?:supported|allowed|valid|permitted|possible) values|one of|should be|must be|set)\b(.*)$/is.exec(message) ??
    [];
  const words: readonly string[] = offered.toLowerCase().match(/[a-z]+/g) ?? [];
  return reasoningEfforts.filter((effort) => effort !== sent && words.includes(effort));
}

/** Compatible servers know one of both names, and gateways pass requests on to models that refuse the older one. */
function readBoundName(
  { param, message }: ProviderFailure,
  { boundName: sent }: CallPlan,
  isNamed: (words: RegExp) => boolean,
  isAlone: boolean,
): CallPlan["boundName"] | null {
  const isBlamed = param === null ? isNamed(sent === "max_tokens" ? olderBound : newerBound) : param === sent;
  if (sent === "max_tokens") {
    const isOffered = (param === null || isBlamed) && isNamed(newerBound);
    return isOffered || (isBlamed && isAlone && unknownMember.test(message)) ? "max_completion_tokens" : null;
  }
  return isBlamed && isAlone && unknownMember.test(message) ? "max_tokens" : null;
}

function hasRepeatedRole({ messages }: ReplyRequest): boolean {
  return messages.some(({ role }, index) => role === messages[index + 1]?.role);
}

/**
 * Whether a message names something in the provider's own words. Some repeat a part of what a visitor wrote, who must
 * not be able to teach us anything: then the words beside the name stand beside it in the request as well.
 */
function isNamed(message: string, words: RegExp, request: ReplyRequest): boolean {
  const lower = withoutLayout(message);
  const said = textsOf({ ...request, systemPrompt: null, tools: [] }).map((text) => withoutLayout(text).trim());
  const instructions = withoutLayout(textsOf({ ...request, messages: [], rounds: [] }).join("\n"));
  return [...lower.matchAll(words)].some(({ 0: name, index }) => {
    const [before = ""] = /[\p{L}\p{N}_]+[^\p{L}\p{N}_]*$/u.exec(lower.slice(Math.max(0, index - 200), index)) ?? [];
    const [after = ""] = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]+/u.exec(lower.slice(index + name.length).slice(0, 200)) ?? [];
    if (/^\W*?(…|\.\.\.)/.test(lower.slice(index + name.length))) return false;
    const isQuoted = said.some(
      (text) => text.startsWith(name) || hasBoth(text, before, name) || hasBoth(text, name, after),
    );
    // The owner's own words may well be about temperature; a quotation of them is longer.
    return !isQuoted && !(before !== "" && after !== "" && instructions.includes(before + name + after));
  });
}

/** Who repeats a text may have changed its case and white space. */
function withoutLayout(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ");
}

function hasBoth(text: string, first: string, second: string): boolean {
  return first !== "" && second !== "" && text.includes(first + second);
}
