/** One page of a browser that is not Chromium, as far as a smoke test needs it. */

export interface BrowserPage extends AsyncDisposable {
  /** Resolves when the document has loaded. */
  open(url: string): Promise<void>;
  /** Runs the body of a function in the page; what it returns comes as JSON. Rejects where it throws. */
  run<Value>(body: string): Promise<Value>;
}
