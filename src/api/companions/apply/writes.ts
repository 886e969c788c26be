/** What a plan writes, with ids and secrets that stay the same however often it is made again. */
import type {
  IdempotentWrite,
  NewSource,
  SetCreate,
  SetUpdate,
  SetWrites,
  SourceReplacement,
} from "../../../contracts/store/store.ts";
import type { Services } from "../../../core/dependencies.ts";
import { newCompanionSettings } from "../../../domain/companion.ts";
import { makeEmbedToken } from "../../../domain/credentials.ts";
import { OutdatedError } from "../../../domain/errors.ts";
import type { Source } from "../../../domain/knowledge.ts";
import { sealedAs, type Tool } from "../../../domain/tool.ts";
import { listToolChanges, toToolSettings } from "../../../http/schemas/tool-changes.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import { makeWebhookSecret } from "../../../lib/standard-webhooks.ts";
import type { AppliedSource } from "./model.ts";
import type { ItemWrite, Plan } from "./plan.ts";
import type { ToolItem } from "./read-items.ts";
import { type ToolUnit, titleOf, typeOf } from "./units.ts";

type MakingServices = Pick<Services, "ids" | "sealing">;

/** Names of what one call makes. */
export class MadeThings {
  readonly #services: MakingServices;
  readonly #texts = new Map<string, string>();
  readonly #sealed = new Map<string, string>();

  constructor(services: MakingServices) {
    this.#services = services;
  }

  id(...key: readonly string[]): string {
    return this.#keep(key.join("/"), () => this.#services.ids.uuid());
  }

  embedToken(slug: string): { id: string; token: string } {
    const token = this.#keep(`${slug} token`, () => makeEmbedToken(this.#services.ids.secret));
    return { id: this.id(slug, "embed-token"), token };
  }

  /** For the tools that the plan creates: to seal takes time, which no transaction has. */
  async sealSecrets({ writes }: Plan): Promise<void> {
    for (const { item, units } of writes) {
      for (const unit of units.tools.filter(isCreated)) {
        const id = this.id(item.slug, unit.field);
        if (this.#sealed.has(id)) continue;
        const secret = makeWebhookSecret(this.#services.ids.bytes);
        this.#sealed.set(id, await this.#services.sealing.seal(sealedAs.secret(id), secret));
      }
    }
  }

  /** Throws `OutdatedError` for a tool that the plan did not create when its secrets were sealed. */
  sealedSecret(toolId: string): string {
    const sealed = this.#sealed.get(toolId);
    if (sealed === undefined) throw new OutdatedError();
    return sealed;
  }

  #keep(key: string, make: () => string): string {
    const text = this.#texts.get(key) ?? make();
    this.#texts.set(key, text);
    return text;
  }
}

export interface WriteFacts {
  readonly keyId: string | null;
  readonly nowMs: number;
  readonly idempotent: IdempotentWrite | null;
}

export function toWrites(plan: Plan, made: MadeThings, facts: WriteFacts): SetWrites<null> {
  const { nowMs, idempotent } = facts;
  return {
    creates: plan.writes.filter(({ current }) => current === null).map((write) => toCreate(write, made, facts)),
    updates: [
      ...plan.writes.flatMap((write) => toUpdate(write, made, nowMs)),
      ...plan.disables.map(({ companion: { id }, record }) => {
        return {
          id,
          auditId: made.id(id, "audit"),
          patch: { enabled: false },
          applied: { ...record, appliedAt: nowMs },
        };
      }),
    ],
    deletes: plan.deletes.map(({ id }) => ({ id, auditId: made.id(id, "audit") })),
    idempotent,
    result: null,
  };
}

function toCreate({ item, units, record }: ItemWrite, made: MadeThings, { keyId, nowMs }: WriteFacts): SetCreate {
  const id = made.id(item.slug);
  const settings = { ...newCompanionSettings(item.patch.name ?? ""), ...item.patch };
  return {
    auditId: made.id(item.slug, "audit"),
    companion: { ...settings, id, slug: item.slug, createdByKeyId: keyId, embedToken: made.embedToken(item.slug) },
    tools: units.tools.filter(isCreated).map((unit) => toNewTool(unit, item.slug, id, made, nowMs)),
    sources: units.sources.flatMap((unit) => (unit.item === null ? [] : toNewSources(unit.item, item.slug, made))),
    applied: { ...record, appliedAt: nowMs },
  };
}

function toUpdate(write: ItemWrite, made: MadeThings, nowMs: number): SetUpdate[] {
  const { item, current, units, changed, isRevived, record } = write;
  if (current === null) return [];
  const { companion } = current;
  const isChanged = ({ field }: { field: string }) => changed.has(field);
  const tools = units.tools.filter(isChanged);
  const sources = units.sources.filter(isChanged);
  const fresh = sources.filter(({ item: one, source }) => one !== null && source?.type !== typeOf(one));
  const patch = Object.fromEntries(Object.entries(item.patch).filter(([name]) => changed.has(toSnakeCase(name))));
  return [
    {
      id: companion.id,
      auditId: made.id(item.slug, "audit"),
      patch: {
        ...patch,
        ...(companion.slug === null ? { slug: item.slug } : {}),
        ...(isRevived ? { enabled: true } : {}),
      },
      toolCreates: tools.filter(isCreated).map((unit) => toNewTool(unit, item.slug, companion.id, made, nowMs)),
      toolUpdates: tools.flatMap(({ item: one, tool }) => {
        if (one === null || tool === null || tool.target.type !== one.kind) return [];
        return [{ id: tool.id, change: listToolChanges(tool, one.body) }];
      }),
      toolDeletes: tools.flatMap(({ item: one, tool }) => {
        return tool === null || tool.target.type === one?.kind ? [] : [tool.id];
      }),
      sourceCreates: fresh.flatMap(({ item: one }) => (one === null ? [] : toNewSources(one, item.slug, made))),
      sourceUpdates: sources.flatMap(({ item: one, source }) => {
        if (one === null || source === null || source.type !== typeOf(one) || source.type === "file") return [];
        return [{ id: source.id, change: toReplacement(one, source, item.slug, made) }];
      }),
      sourceDeletes: sources.flatMap(({ item: one, source }) => {
        return source === null || (one !== null && source.type === typeOf(one)) ? [] : [source.id];
      }),
      applied: { ...record, appliedAt: nowMs },
    },
  ];
}

/** Also of one that becomes of another kind: it is another tool, of the same name. */
function isCreated({ item, tool }: ToolUnit): boolean {
  return item !== null && tool?.target.type !== item.kind;
}

function toNewTool(
  { field, item }: ToolUnit,
  slug: string,
  companionId: string,
  made: MadeThings,
  nowMs: number,
): Tool {
  const id = made.id(slug, field);
  const { body, kind } = item as ToolItem;
  return {
    ...{ id, companionId, ...toToolSettings(body, kind), sealedHeaders: null, headerNames: [] },
    ...{ sealedSecret: made.sealedSecret(id), createdAt: nowMs, updatedAt: nowMs },
  };
}

/** None of what is sent later, or stays as it is there. */
function toNewSources(item: AppliedSource, slug: string, made: MadeThings): NewSource[] {
  const type = typeOf(item);
  if (type === null || type === "file") return [];
  const id = made.id(slug, "sources", item.slug);
  const upload = item.text === undefined ? null : toUpload(item.text, slug, item.slug, made);
  const url = item.url ?? item.sitemap ?? null;
  return [{ id, slug: item.slug, type, title: titleOf(item), url, refreshHours: item.refresh_hours ?? null, upload }];
}

function toReplacement(item: AppliedSource, source: Source, slug: string, made: MadeThings): SourceReplacement {
  const { title, text, refresh_hours: refreshHours } = item;
  const url = item.url ?? item.sitemap;
  return {
    // A page brings its own title.
    ...(url === undefined
      ? title === undefined
        ? {}
        : { title: titleOf(item) }
      : url === source.url
        ? {}
        : { title: titleOf(item), url }),
    ...(refreshHours === undefined ? {} : { refreshHours }),
    ...(text === undefined ? {} : { upload: toUpload(text, slug, item.slug, made) }),
  };
}

function toUpload(text: string, slug: string, sourceSlug: string, made: MadeThings) {
  const id = made.id(slug, "uploads", sourceSlug);
  return { id, kind: "text" as const, bytes: Buffer.from(text), hash: sha256Hex(text) };
}
