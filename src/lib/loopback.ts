/** Recognizes addresses and hosts that only this machine can reach. */

/** Whether only this machine can reach a listener on this address. */
export function isLoopbackAddress(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127(?:\.\d{1,3}){3}$/.test(address);
}

/** Whether a URL host, in lower case and with or without a port, always points to the machine that asks. */
export function isLoopbackHost(host: string): boolean {
  return loopbackHost.test(host);
}

const loopbackHost = /^(?:localhost|[^:]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;
