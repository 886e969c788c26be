/** What reaches this machine alone. */

/** Whether a listener on this address is heard by this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127(?:\.\d{1,3}){3}$/.test(address);
}

/** Whether a host as URLs have it, lower case and with or without a port, always leads to the machine that asks. */
export function isLoopbackHost(host: string): boolean {
  return loopbackHost.test(host);
}

const loopbackHost = /^(?:localhost|[^:]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;
