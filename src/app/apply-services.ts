/** What a command needs of the server to apply companions to its own data. */
import type { Config } from "../config/config.ts";
import type { Store } from "../contracts/store/store.ts";
import { createOutgoingHttp } from "../engines/outgoing-http/outgoing-http.ts";
import type { Sealing } from "../lib/sealing.ts";
import { createSealedSecrets } from "./sealed-secrets.ts";
import { ownHostsOf } from "./server-settings.ts";

export interface ApplyTools {
  readonly sealing: Sealing;
  /** A sentence, or null. */
  findUrlFault(url: string): string | null;
}

export function openApplyTools(config: Config, store: Store): ApplyTools {
  const outgoing = createOutgoingHttp({ allowed: config.privateTargets, ownHosts: ownHostsOf(config) });
  return {
    sealing: createSealedSecrets({ secretKey: config.secretKey, dataDir: config.dataDir, store }),
    findUrlFault: (url) => outgoing.findFault(url),
  };
}
