/** Why a source cannot be read, where neither its fetching nor its parsing has failed. */

/** The message is a public sentence. */
export class SourceProblem extends Error {
  /** Whether it may pass. */
  readonly isTransient: boolean;

  constructor(sentence: string, isTransient = false) {
    super(sentence);
    this.isTransient = isTransient;
  }
}
