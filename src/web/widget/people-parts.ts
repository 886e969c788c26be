/** The interface between the panel and the files about people: what it passes to them, and what all tabs know. */
import type { ConversationState } from "../../reply-reader/reply-reader.ts";
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import type { PanelHost } from "./panel-host.ts";
import type { Strings } from "./strings.ts";

/** What this browser knows of the conversation's people. */
export interface KeptPeople {
  state: ConversationState["state"];
  /** Of the person who has it; null where that is not known. */
  name: string | null;
  until: string | null;
  reason: string | null;
  /** When that was heard, epoch milliseconds; 0: never. */
  at: number;
  /** When the person was last heard typing. */
  typingAt: number;
  /** The `seq` of the last message that was read. */
  seen: number;
  isOffered?: boolean;
  /** Of a request while no one was available. */
  reopens?: string | null | undefined;
  /** Whether a contact is taken now. */
  canLeave?: boolean;
  /** The reply after which the visitor said whether it is resolved. */
  resolvedAfter?: string;
}

export interface PeopleParts {
  chat: Chat;
  strings: Strings;
  announcer: Announcer;
  host: PanelHost;
  /** Above the composer. */
  element: HTMLElement;
  read(): KeptPeople;
  write(change: Partial<KeptPeople>): void;
  /** Whether a person may write now, or may have. */
  isWanted(): boolean;
  /** For a contact. */
  openForm(): void;
}
