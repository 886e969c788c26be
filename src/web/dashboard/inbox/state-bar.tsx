/** Who has the open conversation and until when, and what its reader may do about that: take, decline, release, close. */
import { useState } from "preact/hooks";
import { ApiError, call, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { ConversationWithMessages } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { Time } from "../ui/page.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";
import { namePerson } from "./words.ts";

interface BarProps {
  conversation: ConversationWithMessages;
  companionName: string;
  path: string;
  onChanged(): Promise<void>;
}

/** What ends a reply under way, unless the body has `stop: false`. */
export async function takeOver(path: string, body: object): Promise<void> {
  const taken = await call<{ state: string }>("POST", `${path}/take`, { body });
  if (taken.state === "companion") say("It's yours after this reply.");
}

export function StateBar({ conversation, companionName, path, onChanged }: BarProps) {
  const ownId = personIdOf(useSession());
  const [isAsked, setIsAsked] = useState(false);
  const { state, person, status } = conversation;
  const isMine = state === "person" && person?.id === ownId;
  const act = useAction(async (call: () => Promise<unknown>) => {
    try {
      await call();
    } finally {
      await onChanged();
    }
  });
  const post = (step: string, body: object) => () => call("POST", `${path}/${step}`, { body });
  const take = () => takeOver(path, {});
  const setStatus = (status: string) => () => call("PATCH", path, { body: { status } });
  const press = (
    label: string,
    call: () => Promise<unknown>,
    kind: "primary" | "secondary" | "ghost" = "secondary",
  ) => (
    <Button key={label} kind={kind} disabled={act.isBusy} onClick={() => void act.run(call)}>
      {label}
    </Button>
  );

  return (
    <div class="border-b border-line bg-sunken px-4 py-2">
      <div class="flex flex-wrap items-center gap-2">
        <p role="status" class="min-w-0 flex-1 text-14">
          <Standing {...{ conversation, companionName, ownId }} />
        </p>
        <div class="flex flex-wrap gap-2">
          {state === "waiting" && [press("Decline", post("release", {}), "ghost"), press("Take over", take, "primary")]}
          {isMine && [press("Release", post("release", {})), press("Close", post("release", { close: true }))]}
          {state === "person" && !isMine && (
            <Button disabled={act.isBusy} onClick={() => setIsAsked(true)}>
              Take over…
            </Button>
          )}
          {state === "companion" && [
            status === "closed"
              ? press("Reopen", setStatus("open"), "ghost")
              : status != null && press("Close", setStatus("closed"), "ghost"),
            press("Take over", take, "primary"),
          ]}
        </div>
      </div>
      {act.error !== null && <Problem class="mt-2">{toProblem(act.error)}</Problem>}
      {isAsked && person && (
        <Confirm
          title={`Take over from ${namePerson(person, ownId)}?`}
          action="Take over"
          kind="primary"
          onConfirm={async () => {
            await takeOver(path, { from: person.id });
            await onChanged();
          }}
          onClose={() => setIsAsked(false)}
        >
          <p>They can't write to this visitor unless they take the conversation back.</p>
        </Confirm>
      )}
    </div>
  );
}

/** A colleague was quicker: who it was stands in the problem. */
function toProblem(error: unknown): string {
  const person = error instanceof ApiError ? (error.problem["person"] as { name: string | null } | null) : null;
  return person ? `${person.name ?? "A colleague"} has taken this conversation.` : toSentence(error);
}

type StandingProps = Pick<BarProps, "conversation" | "companionName"> & { ownId: string };

function Standing({ conversation, companionName, ownId }: StandingProps) {
  const { handoff, status } = conversation;
  if (!handoff) return null;
  const { state, person, since, until } = handoff;
  if (state === "waiting") {
    return (
      <>
        Waiting for a person · <Time at={since} />
        {until !== null && (
          <span class="text-muted max-md:hidden">
            ; back to the companion <Time at={until} />
          </span>
        )}
      </>
    );
  }
  if (state === "person" && person) {
    const name = namePerson(person, ownId);
    return (
      <>
        <strong class="font-semibold">
          <bdi>{name}</bdi>
        </strong>{" "}
        took it <Time at={since} />
        {until !== null && (
          <span class="text-muted max-md:hidden">
            ; released if idle <Time at={until} />
          </span>
        )}
      </>
    );
  }
  return (
    <>
      <bdi>{companionName}</bdi> is answering.{status === "open" && " Your team still owes an answer."}
    </>
  );
}
