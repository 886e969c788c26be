/** Whether the configured providers and servers respond, for `doctor`. */
import type { Config } from "../config/config.ts";
import { processLog } from "../lib/log.ts";
import { checkEmbeddings, checkModels, listModelDates } from "./llm.ts";
import { openMailServer } from "./mail.ts";
import { openVoiceProviders } from "./voice.ts";

/** Opens nothing else. */
export const checkProviders = {
  async llm(config: Config): ReturnType<typeof checkModels> {
    return await checkModels(config.llm, processLog());
  },
  /** Null where no embedding model is named. Rejects with `upstream_error`, or the signal's reason. */
  async embeddings(config: Config, signal: AbortSignal): ReturnType<typeof checkEmbeddings> {
    return await checkEmbeddings(config.llm, { log: processLog(), signal });
  },
  /** Null where the provider gives no list. Rejects with the signal's reason alone. */
  async shutdownDates(llm: Config["llm"], provider: string, signal: AbortSignal): ReturnType<typeof listModelDates> {
    return await listModelDates(llm, provider, signal);
  },
  /** Rejects with `unavailable` and a sentence within 10 s. */
  async redis(url: string): Promise<{ server: string; roundTripMs: number; warning: string | null }> {
    const { checkRedis } = await import("../engines/redis/open.ts");
    return await checkRedis(url);
  },
  /** Null where no mail is sent. Rejects with `MailFailure` within 30 s. */
  async mail({ mail }: Pick<Config, "mail">): Promise<string | null> {
    return mail === null ? null : await openMailServer(mail.server).check();
  },
  async voice(config: Config, signal: AbortSignal): Promise<void> {
    await openVoiceProviders(config.voice).provider?.check(signal);
  },
};
