/** Ends streams of replies whose token is taken away while the reply goes on: it may have begun with another token. */
import type { Services } from "../core/dependencies.ts";
import type { TurnRight } from "../core/turns/turn-start.ts";
import { contextOf } from "./request-context.ts";

/** Call it once the request has its response. */
export function watchStream(
  { openTurns, ids }: Pick<Services, "openTurns" | "ids">,
  request: Request,
  right: TurnRight,
): void {
  const { stream } = contextOf(request, ids);
  if (stream === null || stream.outcome !== null) return;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const watched = {
    checkedMark: -1,
    ended,
    get isStopped() {
      return stream.outcome !== null;
    },
    async checkRight() {
      const isRightful = (await right.check()) !== null;
      if (!isRightful) stream.cut();
      return isRightful;
    },
  };
  const leave = openTurns.enter(watched, null);
  const { onClosing } = stream;
  stream.onClosing = () => {
    onClosing?.();
    leave();
    resolve();
  };
}
