/** An account of the data directory, as a target of files. */
import type { Rules } from "../../api/companions/apply/read-items.ts";
import { prepareApply } from "../../api/companions/apply/service.ts";
import { toWireCompanion } from "../../api/companions/responses.ts";
import { toWireSource } from "../../api/knowledge/responses.ts";
import { readSource } from "../../api/knowledge/sent-source.ts";
import { toNewSource } from "../../api/knowledge/service.ts";
import { toWireTool } from "../../api/tools/responses.ts";
import { openApplyTools } from "../../app/apply-services.ts";
import type { PageRequest, WriteContext } from "../../contracts/store/store.ts";
import { OutdatedError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { maxSources, type Source } from "../../domain/knowledge.ts";
import { SentFile } from "../../http/upload-body.ts";
import { type ActionInput, CommandFailure } from "../command.ts";
import { openAccount } from "../find-account.ts";
import { readHere } from "../read-here.ts";
import type { SetTarget } from "./target.ts";

const maxTries = 4;
const pageSize = 100;
const wholeList = { limit: maxSources, afterId: null };

export async function openLocalTarget(input: ActionInput, email: string, note: string | null): Promise<SetTarget> {
  const { ids, clock, loadConfig } = input;
  const config = loadConfig();
  const { store, account } = await openAccount(input, email);
  const { sealing, findUrlFault } = openApplyTools(config, store);
  const rules: Rules = {
    ...{ ...config.llm, dailyMessages: config.messagesPerDay[account.plan], voice: store.voice, accountId: account.id },
    findUrlFault,
    // The operator's own command is not bound by budgets.
    requirePrices: async () => {},
  };
  const applier = { account, keyId: null, rules };
  const makeContext = (): WriteContext => ({ ...input.audit(), change: { via: "apply", note, actorName: null } });
  /** Companions whose sources may be queued. */
  const touched = new Set<string>();

  async function listSources(companionId: string): Promise<readonly Source[]> {
    return (await store.knowledge.list(account.id, companionId, wholeList))?.items ?? [];
  }

  return {
    async apply(body) {
      for (let tries = 1; ; tries++) {
        const { result, write } = await prepareApply({ store, ids, sealing }, applier, body, clock.nowMs());
        try {
          await write?.(makeContext());
        } catch (error) {
          if (error instanceof OutdatedError && tries < maxTries) continue;
          throw error;
        }
        const hasSources = result.plan.filter(({ changes }) =>
          changes.some(({ field }) => field.startsWith("sources.")),
        );
        for (const { id } of result.applied ? hasSources : []) if (id !== null) touched.add(id);
        return result;
      }
    },
    async sendUpload({ companionId, slug, title, name, bytes }) {
      const sent = readSource({ file: new SentFile(name, null, bytes), slug, ...(title === null ? {} : { title }) });
      const { upload, ...source } = await toNewSource({ ids }, sent);
      const known = (await listSources(companionId)).find((one) => one.slug === slug);
      const context = makeContext();
      const change = { title: source.title, ...(upload === null ? {} : { upload }) };
      const kept =
        known === undefined
          ? await store.knowledge.create(account.id, companionId, { ...source, upload }, context)
          : await store.knowledge.replace(account.id, companionId, known.id, change, context);
      if (kept === null) throw new CommandFailure("the companion was deleted meanwhile.");
    },
    async finish() {
      const sources = (await Promise.all([...touched].map(listSources))).flat();
      const open = sources.filter(({ status }) => status === "queued" || status === "indexing");
      if (open.length === 0) return [];
      const read = await readHere(input, store, account.id, open);
      return read.flatMap((one) =>
        one.status === "failed" ? [`${one.title}: ${one.error ?? "could not be read."}`] : [],
      );
    },
    async listNames() {
      const found = await listAll((page) => store.companions.list(account.id, anyCompanion, page));
      return found.map(({ id, name, slug }) => ({ id, name, slug }));
    },
    async find(slug) {
      const companion = await store.companions.findBySlug(account.id, slug);
      if (companion === null) return null;
      const tools = await store.tools.listAll(companion.id);
      const scope = { set: "", slugs: [slug], adoptIds: [], isWholeSet: false };
      const { companions } = await store.companionSets.read(account.id, scope);
      const wire = (value: object) => value as JsonObject;
      return {
        companion: wire(toWireCompanion(companion)),
        tools: tools.map((tool) => wire(toWireTool(tool))),
        sources: (await listSources(companion.id)).map((source) => wire(toWireSource(source))),
        set: companions[0]?.applied?.set ?? null,
      };
    },
  };
}

const anyCompanion = { metadata: [], q: null };

async function listAll<Item>(
  read: (page: PageRequest) => Promise<{ items: readonly Item[]; nextAfterId: string | null }>,
): Promise<Item[]> {
  const found: Item[] = [];
  for (let afterId: string | null = null; ; ) {
    const page: { items: readonly Item[]; nextAfterId: string | null } = await read({ limit: pageSize, afterId });
    found.push(...page.items);
    afterId = page.nextAfterId;
    if (afterId === null) return found;
  }
}
