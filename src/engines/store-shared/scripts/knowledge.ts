/** Sources, their queue and their index: what is the same in every engine, and what each has of its own. */
import type { KnowledgeStore } from "../../../contracts/store/knowledge.ts";
import { type ClaimMethods, createKnowledgeClaims } from "./knowledge-claims.ts";
import type { KnowledgeSources, SourceDependencies } from "./knowledge-sources.ts";
import type { ScriptRunner } from "./script.ts";

export type OwnKnowledge = Omit<KnowledgeStore, keyof KnowledgeSources | keyof ClaimMethods | "readUpload" | "purge">;

export function createKnowledgeStore(
  scripts: ScriptRunner,
  { answer: _, ...sources }: KnowledgeSources,
  dependencies: SourceDependencies,
  own: OwnKnowledge,
): KnowledgeStore {
  const { read: readUpload, purge } = dependencies.uploads;
  return { ...sources, ...createKnowledgeClaims(scripts, dependencies), ...own, readUpload, purge };
}
