/** Values that are usually there already, and promises of them where something has to be waited for. */

export type Awaitable<T> = T | Promise<T>;

/** Goes on with the value: at once where it is there, since an `await` would put even that off to the next turn of the queue. */
export function andThen<A, B>(value: Awaitable<A>, next: (value: A) => Awaitable<B>): Awaitable<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}
