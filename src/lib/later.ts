/** Objects that are made when something is first asked of them. */

/** Stands for what `make` returns, which is called once, and not before it is needed. Not for hot paths. */
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
    // The query builder asks what its tables are instances of.
    getPrototypeOf: () => Reflect.getPrototypeOf(get()),
  });
}
