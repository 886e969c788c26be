/** Objects that are created on first use. */

interface Promised {
  make: () => object;
  made: object | null;
}

/** A proxy for the result of `make`, which is called once, on first use. Not for hot paths. */
export function later<T extends object>(make: () => T): T {
  return new Proxy<Promised>({ make, made: null }, handler) as unknown as T;
}

function get(promised: Promised): object {
  promised.made ??= promised.make();
  return promised.made;
}

/** One for all: a start makes many proxies, and five functions for each would be noticed. */
const handler: ProxyHandler<Promised> = {
  get: (promised, key) => Reflect.get(get(promised), key),
  has: (promised, key) => Reflect.has(get(promised), key),
  ownKeys: (promised) => Reflect.ownKeys(get(promised)),
  getOwnPropertyDescriptor: (promised, key) => Reflect.getOwnPropertyDescriptor(get(promised), key),
  // Drizzle's generator of migrations checks tables with `instanceof`.
  getPrototypeOf: (promised) => Reflect.getPrototypeOf(get(promised)),
};
