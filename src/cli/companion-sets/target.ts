/** Where companions from files are applied: an account of the data directory, or a server over HTTP. */
import type { ApplyResult } from "../../api/companions/apply/responses.ts";
import type { JsonObject } from "../../domain/json.ts";

/** A file that becomes a source, sent when the rest is applied. */
export interface SentUpload {
  readonly companionId: string;
  readonly slug: string;
  /** Null: the file's name, or the title that it has. */
  readonly title: string | null;
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface SetTarget {
  /** The body of `POST /api/apply`. Throws `AppError` as that answers. */
  apply(body: JsonObject): Promise<ApplyResult>;
  sendUpload(upload: SentUpload): Promise<void>;
  /** Call it when all is sent: has the sources read. Returns sentences about those that failed. */
  finish(): Promise<readonly string[]>;
  /** Names of all, and whether files can have them: with a slug. */
  listNames(): Promise<readonly CompanionName[]>;
  /** As the API shows them; null if there is none with the slug. */
  find(slug: string): Promise<FoundCompanion | null>;
}

export interface CompanionName {
  readonly id: string;
  readonly name: string;
  readonly slug: string | null;
}

export interface FoundCompanion {
  readonly companion: JsonObject;
  readonly tools: readonly JsonObject[];
  readonly sources: readonly JsonObject[];
  /** The set that applied it last; null for none. */
  readonly set: string | null;
}
