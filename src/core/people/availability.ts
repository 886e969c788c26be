/** Whether a companion's visitors find someone: by its hours, and by who of the team is present. */
import type { Companion } from "../../domain/companion.ts";
import { findNextOpening, isOpen } from "../../domain/opening-hours.ts";
import type { Services } from "../dependencies.ts";
import type { Availability } from "./people.ts";

export async function findAvailability(
  { store, clock }: Pick<Services, "store" | "clock">,
  { id, accountId, handoff }: Pick<Companion, "id" | "accountId" | "handoff">,
): Promise<Availability> {
  if (handoff === null) return { isAvailable: false, reopensAtMs: null };
  if (handoff.when === "always") return { isAvailable: true, reopensAtMs: null };
  const nowMs = clock.nowMs();
  if (!isOpen(handoff.hours, nowMs)) {
    return { isAvailable: false, reopensAtMs: findNextOpening(handoff.hours, nowMs) };
  }
  if (handoff.when === "hours") return { isAvailable: true, reopensAtMs: null };
  const present = await store.handoffs.listPresent(accountId, nowMs);
  return {
    isAvailable: present.some(({ companionIds }) => companionIds === null || companionIds.includes(id)),
    reopensAtMs: null,
  };
}
