/** JSON responses of the management API. */
import type { HeaderBag } from "./problem.ts";

/** The part of Elysia's `set` that a response writes. */
export interface ResponseHead {
  /** Several cookies need a list. */
  headers: HeaderBag & { "set-cookie"?: string | string[] };
  status?: number | string;
}

/** JSON that is written already, as text or UTF-8, as a handler returns it. */
export class JsonText {
  constructor(readonly text: string | Uint8Array) {}
}

/** JSON that is already text. */
export function respondJsonText<Text extends string | Uint8Array>(set: ResponseHead, text: Text, status: number): Text {
  set.status = status;
  set.headers["content-type"] = "application/json";
  return text;
}

/** 204, without a body. */
export function respondEmpty(set: ResponseHead): null {
  set.status = 204;
  return null;
}
