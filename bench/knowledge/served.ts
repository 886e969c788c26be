/** What knowledge costs at the server: a message of a companion that has some, and streams while documents are read. */
import { docxParagraph, makeDocx, makePdf, type PdfPage } from "../../test/support/documents.ts";
import { articleOf, sitemapOf, startWebsite, type Website } from "../../test/support/website.ts";
import { startProvider } from "../load/processes.ts";
import { loads } from "../loads.ts";
import { measureStreams, type Provider, type StreamFigures, warmUp } from "../streams.ts";
import { type Owner, startKnowledgeServer, waitUntilRead } from "./server.ts";
import { createWriter } from "./texts.ts";

export interface MessageFigures {
  readonly name: string;
  /** CPU of the server for a whole request of one chunk, the best of the rounds. */
  readonly micros: number;
}

export interface ReadingFigures {
  readonly name: string;
  /** Documents, or pages of the sitemap, that were read meanwhile. */
  readonly read: number;
  readonly quiet: StreamFigures;
  readonly meanwhile: StreamFigures;
}

export interface ServedFigures {
  readonly messages: readonly MessageFigures[];
  readonly reading: readonly ReadingFigures[];
}

const messageRounds = 4;
const passages = 1_000;
const question = createWriter(3).words(8);

export async function measureServed(say: (sentence: string) => void): Promise<ServedFigures> {
  const provider = await startProvider();
  const server = await startKnowledgeServer(provider.port, 3);
  const [plain, knowing, reader] = server.owners as [Owner, Owner, Owner];
  try {
    await warmUp(plain.contender(question), provider);
    say("a message without knowledge and with it");
    const messages = await measureMessages(plain, knowing, provider);
    return { messages, reading: await measureReading(plain, reader, provider, say) };
  } finally {
    await server.stop();
    await provider.stop();
  }
}

async function measureMessages(plain: Owner, knowing: Owner, provider: Provider): Promise<MessageFigures[]> {
  const text = createWriter(1).markdown(passages);
  const { id } = await knowing.send({ type: "text", title: "A handbook", text });
  await waitUntilRead(knowing, id);
  const rows = [
    { name: "without sources", owner: plain, micros: Number.POSITIVE_INFINITY },
    { name: `with ${passages} passages, of which 8 go to the model`, owner: knowing, micros: Number.POSITIVE_INFINITY },
  ];
  // The first round of each warms up.
  for (let round = 0; round <= messageRounds; round++) {
    for (const row of rows) {
      const { cpuMicrosPerChunk } = await measureStreams(row.owner.contender(question), provider, loads.request);
      if (round > 0) row.micros = Math.min(row.micros, cpuMicrosPerChunk);
    }
  }
  return rows.map(({ name, micros }) => ({ name, micros }));
}

/** Twelve seconds of a hundred visitors. */
const streams = {
  plan: { chunks: 600, perWrite: 1, gapMs: 20, isLockStep: false },
  visitors: 100,
  requests: 100,
  rampMs: 5,
};

interface Hard {
  readonly name: string;
  /** Another one each time, so that it is not known already. */
  body(times: number): object | FormData;
  /** How much of it was read when its status was this. */
  count(done: number | undefined): number;
}

async function measureReading(
  plain: Owner,
  reader: Owner,
  provider: Provider,
  say: (sentence: string) => void,
): Promise<ReadingFigures[]> {
  const figures: ReadingFigures[] = [];
  await using site = startLargeSite();
  for (const hard of listHard(site)) {
    say(`100 streams while the server reads ${hard.name}`);
    const quiet = await measureStreams(plain.contender(question), provider, streams);
    const over = new AbortController();
    const reading = readAgainAndAgain(reader, hard, over.signal);
    try {
      const meanwhile = await measureStreams(plain.contender(question), provider, streams);
      over.abort();
      figures.push({ name: hard.name, read: await reading, quiet, meanwhile });
    } finally {
      over.abort();
    }
  }
  return figures;
}

async function readAgainAndAgain(reader: Owner, hard: Hard, signal: AbortSignal): Promise<number> {
  let read = 0;
  let id: string | undefined;
  for (let times = 0; !signal.aborted; times++) {
    const sent = await reader.send(hard.body(times), id);
    id = sent.id;
    const { status, progress } = await waitUntilRead(reader, id, signal);
    if (status === "ready" || status === "failed") read += hard.count(undefined);
    else if (progress !== null) read += hard.count(progress.done);
  }
  // Nothing of it is left for the next one.
  if (id !== undefined) await waitUntilRead(reader, id);
  return read;
}

const sitePages = 500;

function listHard(site: Website): Hard[] {
  const oneEach = (done: number | undefined) => (done === undefined ? 1 : 0);
  // Made beforehand: visitors and harness share a core.
  const pdfs = [1, 2].map(writePdf);
  const bomb = makeBomb();
  const text = createWriter(6).markdown(19_900);
  return [
    { name: "PDFs of 200 pages", body: (times) => form(pdfs[times % 2] ?? bomb, "handbook.pdf"), count: oneEach },
    { name: "zip bombs", body: () => form(bomb, "bomb.docx"), count: oneEach },
    {
      name: "texts of 20 MiB",
      body: (times) => form(Buffer.from(`Edition ${times}\n\n${text}`), "handbook.md"),
      count: oneEach,
    },
    {
      name: "pages of a sitemap",
      body: () => ({ type: "sitemap", url: `${site.url}/sitemap.xml` }),
      count: (done) => done ?? sitePages,
    },
  ];
}

function form(bytes: Uint8Array, name: string): FormData {
  const sent = new FormData();
  sent.set("file", new File([bytes as Uint8Array<ArrayBuffer>], name));
  return sent;
}

function writePdf(seed: number): Uint8Array {
  const writer = createWriter(seed);
  const pages = Array.from({ length: 200 }, (): PdfPage => Array.from({ length: 40 }, () => [writer.words(12), 10]));
  return makePdf(pages);
}

/** It says that it is small. */
function makeBomb(): Uint8Array {
  return makeDocx(docxParagraph("a".repeat(100_000_000)), 1000);
}

function startLargeSite(): Website {
  const writer = createWriter(5);
  const site = startWebsite();
  const paths = Array.from({ length: sitePages }, (_, at) => `/page-${at}`);
  for (const path of paths) {
    const text = Array.from({ length: 8 }, () => writer.words(80)).join("</p><p>");
    site.pages.set(path, { body: articleOf(writer.words(3), text) });
  }
  site.pages.set("/sitemap.xml", sitemapOf(paths.map((path) => site.url + path)));
  return site;
}
