/** Knowledge that no one may ask for: of turns whose companions have no sources. */
import type { KnowledgeFinder } from "../../src/core/knowledge/retrieval/found.ts";

const refuse = () => Promise.reject(new Error("a companion without sources asked for knowledge"));

export const noKnowledge: KnowledgeFinder = { find: refuse, search: refuse };
