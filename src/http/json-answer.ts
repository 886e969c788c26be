/** JSON answers of the management API. */
import type { HeaderBag } from "./problem.ts";

/** The part of Elysia's `set` that an answer writes. */
export interface AnswerHead {
  headers: HeaderBag;
  status?: number | string;
}

export function answerJson(set: AnswerHead, value: unknown, status = 200): string {
  return answerJsonText(set, JSON.stringify(value), status);
}

/** The same for JSON that is text already. */
export function answerJsonText(set: AnswerHead, text: string, status: number): string {
  set.status = status;
  set.headers["content-type"] = "application/json";
  return text;
}

/** 204, without a body. */
export function answerNothing(set: AnswerHead): null {
  set.status = 204;
  return null;
}
