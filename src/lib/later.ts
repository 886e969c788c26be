/** Objects that are created on first use. */

/** A proxy for the result of `make`, which is called once, on first use. Not for hot paths. */
export function later<T extends object>(make: () => T): T {
  let made: T | null = null;
  const get = () => {
    made ??= make();
    return made;
  };
  return new Proxy({} as T, {
    get: (_, key) => Reflect.get(get(), key),
    has: (_, key) => Reflect.has(get(), key),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(get(), key),
    // Drizzle's generator of migrations checks tables with `instanceof`.
    getPrototypeOf: () => Reflect.getPrototypeOf(get()),
  });
}
