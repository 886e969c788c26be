/** Tells when the browser is back on the network: open connections are then dead, and waiting has no point any more. */

/** Calls on each `online` event; returns a function that stops. Outside browsers it never does. */
export function whenOnline(act: () => void): () => void {
  globalThis.addEventListener?.("online", act);
  return () => globalThis.removeEventListener?.("online", act);
}

export function isOffline(): boolean {
  return globalThis.navigator?.onLine === false;
}
