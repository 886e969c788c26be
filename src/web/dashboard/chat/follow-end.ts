/** A log that follows what is added at its end, except for people who read further up. */
import { useEffect, useRef } from "preact/hooks";

export function useFollowEnd() {
  const log = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  /** People who read further up stay there while the reply grows. */
  const isAtEnd = useRef(true);
  const lastBottom = useRef(0);
  const follow = () => {
    if (isAtEnd.current && log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  };
  // Not with each change of the chat: the composer's growth moves the end, too.
  useEffect(() => {
    const observer = new ResizeObserver(follow);
    for (const { current } of [log, content]) if (current !== null) observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return {
    log,
    content,
    /** Immediately: the event of an earlier scroll up may still be on its way. */
    goToEnd(): void {
      isAtEnd.current = true;
      follow();
    },
    onScroll({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: { currentTarget: HTMLDivElement }): void {
      const bottom = scrollTop + clientHeight;
      // Growth below also moves the end away; only scrolling up counts as leaving it.
      isAtEnd.current = scrollHeight - bottom < 32 || (isAtEnd.current && bottom >= lastBottom.current);
      lastBottom.current = bottom;
    },
  };
}
