/** Solves the challenge of a refused request, as a client does. */
import { expect } from "bun:test";
import type { Challenge } from "../../src/domain/challenge.ts";
import { search } from "../../src/web/sdk/challenge-search.ts";

/** The challenge in a `challenge_required`, as a whole; fails the test for any other response. */
export async function readChallenge(response: Response): Promise<Challenge> {
  const problem = (await response.json()) as { code: string; challenge: Challenge };
  expect([response.status, problem.code]).toEqual([403, "challenge_required"]);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return problem.challenge;
}

/** What is sent as `X-Challenge`. */
export function solve({ algorithm, challenge, maxnumber, salt, signature }: Challenge): string {
  const number = search(salt, challenge, 0, maxnumber);
  return encodeSolution({ algorithm, challenge, number, salt, signature });
}

export function encodeSolution(solution: object): string {
  return btoa(JSON.stringify(solution));
}
