/** Embed tokens, with which a website reaches one companion. */
import type { EmbedToken } from "../../domain/companion.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewEmbedToken {
  id: string;
  token: string;
  name: string | null;
}

export interface EmbedTokenStore {
  /** Null if the account has no such companion. Audit: `embed_token.create`, without the token. */
  create(
    accountId: string,
    companionId: string,
    token: NewEmbedToken,
    context: WriteContext,
  ): Promise<EmbedToken | null>;
  /** Valid tokens, oldest first; null if the account has no such companion. */
  list(accountId: string, companionId: string): Promise<EmbedToken[] | null>;
  /** Revokes immediately. False if absent. Audit: `embed_token.revoke`. */
  revoke(accountId: string, companionId: string, tokenId: string, context: WriteContext): Promise<boolean>;
  /** Sets when tokens were last used, many in one commit. Unknown ids are ignored. */
  recordUses(uses: readonly { tokenId: string; lastUsedAt: number }[]): Promise<void>;
}
