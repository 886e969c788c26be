/** The rows of the table, in order. */
import { badInputRow } from "./bad-input.ts";
import { crossAccountRow } from "./cross-account.ts";
import { diskFullRow } from "./disk-full.ts";
import { failingDiskRow, slowDiskRow } from "./failing-disk.ts";
import { garbageRow } from "./garbage.ts";
import { generatedRow } from "./generated.ts";
import { heavyCallsRow } from "./heavy-calls.ts";
import { injectionRow } from "./injection.ts";
import { killRow } from "./kill.ts";
import { loadRow } from "./load.ts";
import { peopleMailRow } from "./people-mail.ts";
import { peopleRacesRow } from "./people-races.ts";
import { powerLossRow } from "./power-loss.ts";
import { providerRow } from "./provider.ts";
import { racesRow } from "./races.ts";
import type { FaultRow } from "./row.ts";
import { slowlorisRow, stalledRow } from "./slow-clients.ts";

export const rows: readonly FaultRow[] = [
  killRow,
  providerRow,
  stalledRow,
  slowlorisRow,
  garbageRow,
  diskFullRow,
  slowDiskRow,
  failingDiskRow,
  powerLossRow,
  racesRow,
  peopleRacesRow,
  peopleMailRow,
  badInputRow,
  crossAccountRow,
  injectionRow,
  generatedRow,
  heavyCallsRow,
  loadRow,
];
