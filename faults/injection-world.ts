/** The accounts, clients and companions that the injection rows use. */
import type { MockElevenLabs } from "../test/support/mock-elevenlabs.ts";
import type { Client } from "./client.ts";
import type { PageShapes } from "./injection-pages.ts";
import type { Tally } from "./row.ts";
import type { World } from "./world.ts";

export interface InjectionWorld {
  world: World;
  voice: MockElevenLabs;
  webhookSecret: string;
  /** The owner by key and in the dashboard, and an operator there. */
  key: Client;
  cookie: Client;
  operator: Client;
  email: string;
  /** The pages of a companion without hostile fields. */
  shapes: PageShapes;
  tally: Tally;
}
