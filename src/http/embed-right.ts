/** The right that an embed token gives, for as long as the reply to a request goes on. */
import type { CompanionStore } from "../contracts/store/companions.ts";
import type { TurnRight } from "../core/turns/turn-start.ts";
import { AppError } from "../domain/errors.ts";

/** The same for every token that does not work, for any reason. */
export function noCompanion(): AppError {
  return new AppError("not_found", "The embed token is unknown or revoked, or its companion is paused.");
}

/** A class, not closures, which would keep the request alive as long. */
export class RightOfToken implements TurnRight {
  readonly #companions: CompanionStore;
  readonly #token: string;

  constructor(companions: CompanionStore, token: string) {
    this.#companions = companions;
    this.#token = token;
  }

  check(): ReturnType<TurnRight["check"]> {
    return this.#companions.checkEmbedToken(this.#token);
  }

  refusal(): AppError {
    return noCompanion();
  }
}
