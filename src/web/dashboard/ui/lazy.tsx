/** Parts of a page whose code is loaded on first use, such as dialogs. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { say } from "./toast.tsx";

export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [, redraw] = useState(Loaded !== null);
    useEffect(() => {
      // It may have come between drawing and now, for another one.
      if (Loaded !== null) return redraw(true);
      load().then(
        (component) => {
          Loaded = component;
          redraw(true);
        },
        () => say("Couldn't load this. Reload the page and try again."),
      );
    }, []);
    return Loaded && <Loaded {...props} />;
  };
}
