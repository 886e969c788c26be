/** Visitors for benchmarks: many chat streams over raw TCP, each counted and timed. Reads one job as JSON from argv. */
import { askingLine, type StreamPlan, sharedMicros, withId } from "./plan.ts";

export interface ClientJob {
  port: number;
  providerPort: number;
  plan: StreamPlan;
  path: string;
  headers: Record<string, string>;
  /** Request body; the same for every request. */
  body: string;
  /** Streams open at once. */
  visitors: number;
  /** Streams in all; a finished one is followed by the next. */
  requests: number;
  /** Milliseconds between the starts of the first `visitors` streams. */
  rampMs: number;
  /** Milliseconds between the end of a reply and the visitor's next message. */
  thinkMs: number;
  /** Each visitor leaves at a random moment within so many milliseconds; 0: all stay to the end. */
  leaveWithinMs: number;
  /** All of them at the end of that time instead. */
  isLeavingTogether: boolean;
}

interface Spread {
  p50: number;
  p99: number;
  max: number;
}

export interface ClientResult {
  completed: number;
  failed: number;
  chunks: number;
  seconds: number;
  /** Milliseconds from the request's last byte to the first text. */
  firstTextMs: Spread;
  /** Milliseconds from the provider's write to the visitor's read. */
  chunkLatencyMs: Spread;
  /** Milliseconds between two reads of a visitor, where the provider writes at a pace. */
  gapMs: Spread;
  /** CPU seconds of the visitors' process: it must not be what limits. */
  cpuSeconds: number;
  /** By the visitor's number, when it left; microseconds of the shared clock. */
  leftAt: Record<string, number>;
}

interface Visit {
  id: number;
  /** Chunks still to come of the provider's last write. */
  owed: number;
  left: number;
  startedMs: number;
  /** Of the last read with text in it; microseconds of the shared clock, 0 before it. */
  readMicros: number;
  isFirstSeen: boolean;
  isDone: boolean;
  tail: string;
}

const job: ClientJob = JSON.parse(process.argv[2] ?? "{}");
const headerLines = Object.entries(job.headers).map(([name, value]) => `${name}: ${value}\r\n`);
const request =
  `POST ${job.path} HTTP/1.1\r\nHost: 127.0.0.1:${job.port}\r\nContent-Type: application/json\r\n${headerLines.join("")}` +
  `Content-Length: ${Buffer.byteLength(job.body)}\r\n\r\n${job.body}`;

/** Writes that visitors ask for, gathered for one turn of the loop. */
let asks = "";
const asking = job.plan.isLockStep
  ? await Bun.connect({ hostname: "127.0.0.1", port: job.providerPort, socket: { data() {} } })
  : null;
asking?.setNoDelay(true);
asking?.write(`${askingLine}\n`);

function askForMore(id: number): void {
  if (asks === "") {
    setImmediate(() => {
      asking?.write(asks);
      asks = "";
    });
  }
  asks += `${id}\n`;
}

const firstTexts: number[] = [];
const latencies: number[] = [];
const gaps: number[] = [];
const isPaced = job.plan.gapMs > 0 && !job.plan.isLockStep;
const leftAt: Record<string, number> = {};
let started = 0;
let completed = 0;
let failed = 0;
let chunks = 0;
const beganMs = performance.now();

function read(visit: Visit, bytes: Buffer): void {
  const text = visit.tail + bytes.toString("latin1");
  let at = 0;
  let stamp = "";
  for (;;) {
    // Both wires carry the provider's time stamp as the chunk's text: `"text":"` here, `"content":"` there.
    const found = text.indexOf('t":"1', at);
    if (found === -1) break;
    const end = text.indexOf(" ", found);
    if (end === -1) break;
    if (!visit.isFirstSeen) {
      visit.isFirstSeen = true;
      firstTexts.push(performance.now() - visit.startedMs);
    }
    stamp = text.slice(found + 4, end);
    chunks++;
    visit.owed--;
    at = end;
  }
  // Its own first write needs no asking; the last one brings the end with it.
  while (asking !== null && visit.owed <= 0 && visit.left > 0) {
    const next = Math.min(job.plan.perWrite, visit.left);
    visit.owed += next;
    visit.left -= next;
    askForMore(visit.id);
  }
  // One sample a read is enough, and the newest chunk is the one that was just sent.
  if (stamp !== "") {
    const nowMicros = sharedMicros();
    latencies.push((nowMicros - Number(stamp)) / 1000);
    if (isPaced && visit.readMicros > 0) gaps.push((nowMicros - visit.readMicros) / 1000);
    visit.readMicros = nowMicros;
  }
  if (text.includes("[DONE]", Math.max(0, at - 8))) visit.isDone = true;
  visit.tail = text.slice(Math.max(at, text.length - 48));
}

function chooseStayMs(): number {
  if (!job.isLeavingTogether) return Math.random() * job.leaveWithinMs;
  return Math.max(0, job.leaveWithinMs - (performance.now() - beganMs));
}

function visitNext(): void {
  if (started >= job.requests) return;
  started++;
  const { chunks: wanted, perWrite } = job.plan;
  const visit: Visit = {
    id: started,
    owed: perWrite,
    left: wanted - perWrite,
    startedMs: 0,
    readMicros: 0,
    isFirstSeen: false,
    isDone: false,
    tail: "",
  };
  let isOver = false;
  const finish = () => {
    if (isOver) return;
    isOver = true;
    if (visit.isDone || leftAt[visit.id] !== undefined) completed++;
    else failed++;
    if (completed + failed === job.requests) report();
    else if (job.thinkMs > 0) setTimeout(visitNext, job.thinkMs);
    else visitNext();
  };
  Bun.connect({
    hostname: "127.0.0.1",
    port: job.port,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        visit.startedMs = performance.now();
        socket.write(withId(request, visit.id));
        if (job.leaveWithinMs > 0) {
          setTimeout(() => {
            if (isOver) return;
            leftAt[visit.id] = sharedMicros();
            socket.terminate();
          }, chooseStayMs());
        }
      },
      data(socket, bytes) {
        read(visit, bytes);
        if (visit.isDone) socket.end();
      },
      close: finish,
      error: finish,
      connectError: finish,
    },
  }).catch(finish);
}

function quantile(sorted: number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

function summarize(values: number[]): Spread {
  values.sort((a, b) => a - b);
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), max: values.at(-1) ?? Number.NaN };
}

function report(): void {
  const result: ClientResult = {
    completed,
    failed,
    chunks,
    seconds: (performance.now() - beganMs) / 1000,
    firstTextMs: summarize(firstTexts),
    chunkLatencyMs: summarize(latencies),
    gapMs: summarize(gaps),
    cpuSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
    leftAt,
  };
  console.log(JSON.stringify(result));
  process.exit(0);
}

for (let index = 0; index < Math.min(job.visitors, job.requests); index++) {
  if (job.rampMs > 0) setTimeout(visitNext, index * job.rampMs);
  else visitNext();
}
