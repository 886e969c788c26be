/** Stands between two instances, and changes what one answers the other. */

/** Of an answer that has arrived whole; bytes are characters 0 to 255. */
export interface PassedAnswer {
  status: number;
  headers: Headers;
  body: string;
}

export interface TamperingProxy extends Disposable {
  readonly url: string;
  tamper: (answer: PassedAnswer) => void;
}

export function startTamperingProxy(findTarget: () => string): TamperingProxy {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      // Not the global one, which checks in tests whether a response is documented.
      const response = await Bun.fetch(findTarget() + new URL(request.url).pathname, {
        method: request.method,
        headers: request.headers,
        body: await request.bytes(),
      });
      const body = Buffer.from(await response.bytes()).toString("latin1");
      const answer = { status: response.status, headers: new Headers(response.headers), body };
      proxy.tamper(answer);
      return new Response(answer.body === "" ? null : Buffer.from(answer.body, "latin1"), answer);
    },
  });
  const proxy: TamperingProxy = {
    url: server.url.origin,
    tamper() {},
    [Symbol.dispose]: () => void server.stop(true),
  };
  return proxy;
}
