/** Makes the service of `people.ts`: both sides of a conversation, and its deadlines. */
import { createDeadlines } from "./deadlines.ts";
import { createFeedback } from "./feedback.ts";
import type { PeopleService } from "./people.ts";
import { type PeopleServices, Revisions } from "./revisions.ts";
import { createTeamSide } from "./team-side.ts";
import { createVisitorsSide } from "./visitors-side.ts";

export function createPeople(services: PeopleServices): PeopleService {
  const revisions = new Revisions(services);
  const deadlines = createDeadlines(services, revisions);
  return {
    ...createVisitorsSide(services, revisions),
    ...createTeamSide(services, revisions),
    ...createFeedback(services, revisions),
    onTaken: (key, listener) => revisions.onTaken(key, listener),
    start: () => deadlines.start(),
    close: () => deadlines.stop(),
  };
}
