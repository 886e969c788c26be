/** `companiond account`: manages accounts, which own companions. */

import type { AccountPatch, Store } from "../contracts/store/store.ts";
import { type Account, plans, roles } from "../domain/account.ts";
import { findPasswordProblem } from "../domain/password.ts";
import { toWireAccount } from "../http/schemas/account.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { hashPassword } from "../lib/password-hash.ts";
import { formatList } from "./columns.ts";
import {
  type Action,
  type ActionInput,
  type ActionResult,
  type Command,
  CommandFailure,
  free,
  Misuse,
  oneOf,
} from "./command.ts";
import { gone, openAccess, openAccount, readChoice, readEmail } from "./find-account.ts";
import { resetTools, resetVisitorKeys, resetWebhooks } from "./lost-secrets.ts";
import { issueLink } from "./one-time-link.ts";
import { voiceAgentActions } from "./voice-agents.ts";

const create: Action = {
  name: "create",
  about: "Create an account.",
  data: "makes",
  options: {
    email: { value: free("email"), about: "Its address, unique.", isRequired: true },
    plan: { value: oneOf(plans), about: "Sets the daily message quota of its companions (free)." },
    role: { value: oneOf(roles), about: "An operator also manages accounts (owner)." },
    "password-stdin": { about: "Read the password from standard input; otherwise set one with a reset link." },
  },
  async run({ args, ids, io, openStore, audit }) {
    const email = readEmail(args.text("email"));
    const plan = readChoice("--plan", args.find("plan") ?? "free", plans);
    const role = readChoice("--role", args.find("role") ?? "owner", roles);
    const passwordHash = args.has("password-stdin") ? await hashPassword(readPassword(await io.readInput())) : null;
    const store = await openStore();
    const account = await store.accounts.create({ id: ids.uuid(), email, plan, role, passwordHash }, audit());
    const next =
      passwordHash === null
        ? `It has no password yet: companiond account reset-link ${email}`
        : `Create an API key for it: companiond key create --account ${email} --name <name> --scopes companions:read,companions:write`;
    return describe(account, `Created the account ${email} (${plan}, ${role}).\n${next}`);
  },
};

const list: Action = {
  name: "list",
  about: "Show all accounts, oldest first.",
  data: "reads",
  async run({ openStore }) {
    const accounts = await (await openStore()).accounts.list();
    const rows = accounts.map((account) => [
      account.email,
      account.plan,
      account.role,
      account.suspendedAt === null ? "active" : `suspended ${toRfc3339(account.suspendedAt)}`,
      account.totpConfirmedAt === null ? "no" : "yes",
      toRfc3339(account.createdAt),
      account.id,
    ]);
    return {
      json: accounts.map(toWireAccount),
      text: formatList(["email", "plan", "role", "state", "totp", "created", "id"], rows, "There are no accounts yet."),
    };
  },
};

const setPlan: Action = {
  name: "set-plan",
  about: "Change an account's plan.",
  data: "writes",
  operands: [{ value: free("email") }, { value: oneOf(plans) }],
  async run(input) {
    const plan = readChoice("the plan", input.args.operand(1), plans);
    return describe(await change(input, { plan }), `${input.args.operand(0)} is now on the ${plan} plan.`);
  },
};

const suspend: Action = {
  name: "suspend",
  about: "Refuse an account's keys, sign-ins and embed tokens until it is resumed.",
  data: "writes",
  operands: [{ value: free("email") }],
  async run(input) {
    const account = await change(input, { suspendedAt: input.clock.nowMs() });
    return describe(account, `${account.email} is suspended: its keys and embed tokens are refused from now on.`);
  },
};

const resume: Action = {
  name: "resume",
  about: "End a suspension.",
  data: "writes",
  operands: [{ value: free("email") }],
  async run(input) {
    const account = await change(input, { suspendedAt: null });
    return describe(account, `${account.email} is active again.`);
  },
};

const remove: Action = {
  name: "delete",
  about: "Delete an account with its companions, keys and conversations; its usage is kept.",
  data: "writes",
  operands: [{ value: free("email") }],
  options: { yes: { about: "Do not ask: nothing of this can be brought back." } },
  async run(input) {
    const email = readEmail(input.args.operand(0));
    const mustAsk = !input.args.has("yes");
    if (mustAsk && !input.io.canAsk) {
      throw new Misuse(
        `this deletes ${email} with everything it owns, and there is no terminal to confirm it. Add --yes to do it.`,
      );
    }
    const { store, account } = await openAccount(input, email);
    if (mustAsk) await confirmDeletion(input, store, account);
    if (!(await store.accounts.delete(account.id, input.audit()))) throw gone(account.email);
    return describe(account, `Deleted ${account.email} with everything it owned.`);
  },
};

const resetLink: Action = {
  name: "reset-link",
  about: "Print a link to choose a new password, for an account (30 minutes) or a member (7 days); it works once.",
  data: "writes",
  operands: [{ value: free("email") }],
  async run(input) {
    const { account, person } = await openAccess(input, input.args.operand(0));
    const { accountId, memberId } = person;
    const purpose =
      memberId === null
        ? ({ kind: "reset", accountId } as const)
        : ({ kind: "invitation", accountId, memberId } as const);
    return issueLink(input, purpose, `It lets ${account.email} choose a new password.`, account);
  },
};

const resetTotp: Action = {
  name: "reset-totp",
  about: "Remove an account's or a member's second factor if it is lost: the password alone then signs in again.",
  data: "writes",
  operands: [{ value: free("email") }],
  async run(input) {
    const { store, account, person } = await openAccess(input, input.args.operand(0));
    if (!(await store.secondFactors.remove(person, input.audit()))) {
      throw new CommandFailure(`${account.email} has no second factor.`);
    }
    const text = `${account.email} signs in with the password alone, and can set up a new second factor.`;
    return describe({ ...account, totpConfirmedAt: null }, text);
  },
};

const setupLink: Action = {
  name: "setup-link",
  about: "Print a link to create the first operator in the dashboard; it works once, for 30 minutes.",
  data: "writes",
  async run(input) {
    const store = await input.openStore();
    if (await store.accounts.hasAnyPassword()) {
      throw new CommandFailure(
        "the dashboard is set up already. For a lost password: companiond account reset-link <email>",
      );
    }
    const purpose = { kind: "setup", accountId: null } as const;
    return issueLink(input, purpose, "It lets the first operator set up the dashboard.");
  },
};

export const accountCommand: Command = {
  name: "account",
  about: "Create and manage accounts.",
  actions: [
    create,
    list,
    setPlan,
    suspend,
    resume,
    remove,
    resetLink,
    resetTotp,
    resetVisitorKeys,
    resetTools,
    resetWebhooks,
    setupLink,
    ...voiceAgentActions,
  ],
};

async function change(input: ActionInput, patch: AccountPatch): Promise<Account> {
  const { store, account } = await openAccount(input, input.args.operand(0));
  const changed = await store.accounts.update(account.id, patch, input.audit());
  if (changed === null) throw gone(account.email);
  return changed;
}

/** Throws `CommandFailure` unless the address is typed again. */
async function confirmDeletion({ io }: ActionInput, store: Store, { id, email }: Account): Promise<void> {
  const held = await store.accounts.findHeld(id);
  if (held === null) throw gone(email);
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const typed = await io.ask(
    `This deletes ${email} with ${count(held.companions, "companion")} and ${count(held.keys, "API key")}, and with all ` +
      "conversations and knowledge of the companions. Only its usage is kept, and nothing can be brought back.\n" +
      "Type the address again to delete it: ",
  );
  if (typed.trim().toLowerCase() !== email) throw new CommandFailure("That is not the address: nothing was deleted.");
}

function describe(account: Account, text: string): ActionResult {
  return { json: toWireAccount(account), text };
}

function readPassword(input: string): string {
  const password = input.replace(/\r?\n$/, "");
  const problem = findPasswordProblem(password);
  if (problem !== null) throw new Misuse(problem);
  return password;
}
