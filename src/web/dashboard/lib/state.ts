/** State that the whole dashboard shares. A signals library would be a tenth of the first load. */
import { useLayoutEffect, useReducer } from "preact/hooks";

export class State<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set value(next: Value) {
    if (next === this.#value) return;
    this.#value = next;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The current value; the component is redrawn when it changes. */
export function use<Value>(state: State<Value>): Value {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  const { value } = state;
  useLayoutEffect(() => {
    // It may have changed between drawing and now.
    if (state.value !== value) redraw(undefined);
    return state.onChange(() => redraw(undefined));
  }, [state]);
  return value;
}
