/** Memory, or another scarce resource, that many take shares of: bounded in all, and for each owner. */

export interface SharedBudgetLimits {
  /** For all shares together. */
  readonly total: number;
  /** For all shares of one owner. Left out: the total. */
  readonly ofOne?: number;
  /** What each share may hold besides, regardless of the others. */
  readonly free?: number;
  /** What shares grow by. Left out: 1. */
  readonly step?: number;
  /** Called with what a share has released. */
  readonly noteReleased?: (amount: number) => void;
}

export class SharedBudget {
  /** Of the total. */
  held = 0;
  /** Of owners that hold any. */
  readonly heldByOwner = new Map<string, number>();

  constructor(readonly limits: SharedBudgetLimits) {}

  /** A share that holds nothing yet, to be released in the end. */
  open(owner = ""): BudgetShare {
    return new BudgetShare(this, owner);
  }
}

export class BudgetShare {
  /** Of the total. */
  held = 0;

  constructor(
    private readonly budget: SharedBudget,
    private readonly owner: string,
  ) {}

  /** Makes room for as much in all; false if there is none: then nothing is acquired. */
  growTo(amount: number): boolean {
    const missing = this.#missingTo(amount);
    if (missing <= 0) return true;
    if (this.budget.held + missing > this.budget.limits.total || !this.isWithinOwner(amount)) return false;
    this.#add(missing);
    return true;
  }

  /** Whether its owner's bound leaves room for as much, regardless of the others. */
  isWithinOwner(amount: number): boolean {
    const { limits, heldByOwner } = this.budget;
    return (heldByOwner.get(this.owner) ?? 0) + this.#missingTo(amount) <= (limits.ofOne ?? limits.total);
  }

  /** May be called more than once. */
  release(): void {
    const { held } = this;
    this.#add(-held);
    this.budget.limits.noteReleased?.(held);
  }

  #missingTo(amount: number): number {
    const { free = 0, step = 1 } = this.budget.limits;
    return Math.ceil((amount - free - this.held) / step) * step;
  }

  #add(amount: number): void {
    const { budget, owner } = this;
    this.held += amount;
    budget.held += amount;
    if (budget.limits.ofOne === undefined) return;
    const owned = (budget.heldByOwner.get(owner) ?? 0) + amount;
    if (owned === 0) budget.heldByOwner.delete(owner);
    else budget.heldByOwner.set(owner, owned);
  }
}
