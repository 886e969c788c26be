/** JSON responses of the management API. */
import type { HeaderBag } from "./problem.ts";

/** The part of Elysia's `set` that a response writes. */
export interface ResponseHead {
  /** Several cookies need a list. */
  headers: HeaderBag & { "set-cookie"?: string | string[] };
  status?: number | string;
}

export function respondJson(set: ResponseHead, value: unknown, status = 200): string {
  return respondJsonText(set, JSON.stringify(value), status);
}

/** The same for JSON that is already text. */
export function respondJsonText(set: ResponseHead, text: string, status: number): string {
  set.status = status;
  set.headers["content-type"] = "application/json";
  return text;
}

/** 204, without a body. */
export function respondEmpty(set: ResponseHead): null {
  set.status = 204;
  return null;
}
