/** The rules of a group of robots.txt: which one decides about a path, within a fraction of a millisecond. */

interface Rule {
  readonly isAllow: boolean;
  /** Of the pattern as it was written. */
  readonly length: number;
}

interface StarRule extends Rule {
  readonly pattern: string;
}

/**
 * Each rule with a star within it is tried separately, against thousands of addresses of a sitemap. Sites have some dozens;
 * the others are looked up, however many there are.
 */
const maxStarRules = 500;
/** Of all of them together: long parts take longer to search. */
const maxStarLength = 16 * 1024;

/** The longest rule that matches decides; of two, the one that allows. */
export class PathRules {
  /** By all of the path; a `$` ended the pattern. */
  readonly #whole = new Map<string, Rule>();
  /** By the path's beginning. */
  readonly #beginnings = new Map<string, Rule>();
  /** Of the beginnings; null until they are asked for. */
  #lengths: number[] | null = null;
  #starRules: StarRule[] = [];
  #starLength = 0;

  /** More than can be followed. */
  get isTooLong(): boolean {
    return this.#starRules.length > maxStarRules || this.#starLength > maxStarLength;
  }

  add(pattern: string, isAllow: boolean): void {
    if (this.isTooLong) return;
    const rule = { isAllow, length: pattern.length };
    let end = pattern.length;
    // Stars at the end mean nothing.
    while (pattern[end - 1] === "*") end--;
    const text = pattern.slice(0, end);
    const whole = pattern.endsWith("$") ? pattern.slice(0, -1) : null;
    if (text.includes("*")) {
      this.#starRules.push({ ...rule, pattern });
      this.#starLength += pattern.length;
    } else if (whole !== null) keep(this.#whole, whole, rule);
    else keep(this.#beginnings, text, rule);
    this.#lengths = null;
  }

  isAllowed(path: string): boolean {
    let decisive: Rule = this.#whole.get(path) ?? { isAllow: true, length: -1 };
    for (const length of this.#sort()) {
      if (length > path.length) continue;
      const found = this.#beginnings.get(path.slice(0, length));
      if (found !== undefined && isBefore(found, decisive)) decisive = found;
    }
    for (const rule of this.#starRules) {
      if (!isBefore(rule, decisive)) break;
      if (matches(rule.pattern, path)) return rule.isAllow;
    }
    return decisive.isAllow;
  }

  /** Once all rules are there. */
  #sort(): readonly number[] {
    if (this.#lengths === null) {
      this.#lengths = [...new Set(this.#beginnings.keys().map(({ length }) => length))];
      this.#starRules.sort((one, other) => (isBefore(one, other) ? -1 : isBefore(other, one) ? 1 : 0));
    }
    return this.#lengths;
  }
}

function keep(rules: Map<string, Rule>, text: string, rule: Rule): void {
  const before = rules.get(text);
  if (before === undefined || isBefore(rule, before)) rules.set(text, rule);
}

function isBefore(one: Rule, other: Rule): boolean {
  return one.length > other.length || (one.length === other.length && one.isAllow && !other.isAllow);
}

/** `*` is any text, `$` at the end is the end. Each part is searched for once, so that no pattern takes long. */
function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith("$");
  const text = isAnchored ? pattern.slice(0, -1) : pattern;
  let star = text.indexOf("*");
  if (!path.startsWith(text.slice(0, star))) return false;
  let at = star;
  for (;;) {
    const from = star + 1;
    star = text.indexOf("*", from);
    if (star === -1) {
      const last = text.slice(from);
      if (isAnchored) return path.length - last.length >= at && path.endsWith(last);
      return path.includes(last, at);
    }
    const part = text.slice(from, star);
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
}
