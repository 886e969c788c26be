/** How much a provider may send before its stream is considered broken. */
export const streamLimits = {
  /** Of one line, or one event of several lines, unless the wire sets another. */
  maxLineBytes: 1024 * 1024,
  /** Longer lines are read only if the wire does not skip them. */
  longLineBytes: 16 * 1024,
  /** Of one event. */
  maxEventLines: 4096,
  /** Of the whole reply, in UTF-16 units. */
  maxTextUnits: 4 * 1024 * 1024,
  /** Before the first text, and between two; of a model that thinks the larger one. */
  maxWordlessBytes: 32 * 1024 * 1024,
  maxThinkingBytes: 256 * 1024 * 1024,
  /** Of these for each read and each line, since tiny ones take time as well. */
  leastBytes: 256,
};
