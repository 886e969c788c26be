/** The port of plain HTTP beside `--domain`; while another program has it, it is tried again and again. */
import {
  type ClearAnswersOptions,
  type ClearOutcome,
  clearOutcomes,
  createClearAnswers,
} from "../http/clear-answers.ts";
import { ListenFailure, listenOn } from "./listener.ts";

export interface ClearListenerOptions extends ClearAnswersOptions {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Called once the port is open: immediately, or after a failure. */
  onOpen(port: number): void;
  /** Called once if it cannot be opened at first. */
  onFailure(failure: ListenFailure): void;
  /** Runs the first attempt to listen: with rights that the others have not. */
  listenFirst?(work: () => Bun.Server<undefined>): Bun.Server<undefined>;
  /** Shortened in tests. */
  retryMs?: number;
}

export interface ClearListener {
  /** Why it is not open; null if it is. */
  readonly failure: ListenFailure | null;
  /** Answers so far. */
  readonly counts: Readonly<Record<ClearOutcome, number>>;
  stop(): Promise<void>;
}

const minuteMs = 60_000;
/** No one waits for an answer that takes longer. */
const idleSeconds = 10;
/** A body is never read; up to here, its sender gets the reason. */
const maxRequestBodyBytes = 64 * 1024;

export function openClearListener(options: ClearListenerOptions): ClearListener {
  const { host, port, onOpen, onFailure, listenFirst = (work) => work(), retryMs = minuteMs } = options;
  const answer = createClearAnswers(options);
  const counts = Object.fromEntries(clearOutcomes.map((outcome) => [outcome, 0])) as Record<ClearOutcome, number>;
  let failure: ListenFailure | null = null;
  let again: ReturnType<typeof setTimeout> | undefined;

  async function handle(request: Request): Promise<Response> {
    const { outcome, response } = await answer(request);
    counts[outcome]++;
    return response;
  }

  function listen(): Bun.Server<undefined> {
    const limits = { maxRequestBodySize: maxRequestBodyBytes, idleTimeout: idleSeconds };
    const rest = { port, ...limits, reusePort: false, development: false, fetch: handle };
    return listenOn(host, port, (hostname) => Bun.serve({ hostname, ...rest }));
  }

  function open(listenBy: typeof listenFirst): Bun.Server<undefined> | null {
    try {
      const opened = listenBy(listen);
      failure = null;
      onOpen(opened.port ?? port);
      return opened;
    } catch (error) {
      if (!(error instanceof ListenFailure)) throw error;
      const isNews = failure === null;
      failure = error;
      if (isNews) onFailure(error);
      again = setTimeout(() => {
        server = open((work) => work());
      }, retryMs);
      again.unref();
      return null;
    }
  }

  let server = open(listenFirst);
  return {
    get failure() {
      return failure;
    },
    counts,
    async stop() {
      clearTimeout(again);
      await server?.stop(true);
    },
  };
}
