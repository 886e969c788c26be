/** The result of one check of an installation, as `doctor` shows it. */

export interface Finding {
  /** What was checked. */
  name: string;
  status: "ok" | "warn" | "fail";
  /** What was found, as a sentence. */
  detail: string;
  /** What to do, or null if nothing. */
  advice: string | null;
  /** Not set up, so that there was nothing to check; its status is `ok`. */
  is_off?: boolean;
}

/** What a part of a running server reports of itself when `doctor` asks; it brings its own deadline. */
export interface SelfCheck {
  /** Of its findings; also of the one that is made if it fails. */
  readonly name: string;
  check(): Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>;
}
