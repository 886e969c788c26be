/** What visitors leave for the team: a contact, and what they think of replies. */

export interface ContactFacts {
  readonly email: string;
  readonly name: string | null;
  readonly message: string | null;
}

export const ratingReasons = ["wrong", "incomplete", "unclear", "off_topic", "other"] as const;
export type RatingReason = (typeof ratingReasons)[number];

export interface Rating {
  readonly rating: "up" | "down";
  readonly reasons: readonly RatingReason[];
  readonly comment: string | null;
  readonly createdAt: number;
}

export const maxComment = 1_000;

/** What seals them: the key of a companion's contacts, or comments. */
export const sealedContactName = (companionId: string) => `contact ${companionId}`;
export const sealedCommentName = (companionId: string) => `rating comment ${companionId}`;
