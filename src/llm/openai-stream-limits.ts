/** How much a provider may send before its stream is considered broken. */

export interface StreamLimits {
  /** Of one line, or one event of several lines. */
  maxLineBytes: number;
  /** Of one event. */
  maxEventLines: number;
  /** Of the whole reply, in UTF-16 units. */
  maxTextUnits: number;
}

export const streamLimits: StreamLimits = {
  maxLineBytes: 1024 * 1024,
  maxEventLines: 4096,
  maxTextUnits: 4 * 1024 * 1024,
};
