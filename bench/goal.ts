/** What a figure of the benchmark is to show. */

export interface Goal {
  what: string;
  isReached: boolean;
  figure: string;
}
