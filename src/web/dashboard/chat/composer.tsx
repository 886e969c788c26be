/** The field for the next message of a trial chat: Enter sends, and while a reply is under way it can be stopped. */
import { ArrowUp, Square } from "lucide-preact";
import type { ComponentChildren, RefObject } from "preact";
import { Button } from "../ui/button.tsx";
import { Form } from "../ui/field.tsx";

interface ComposerProps {
  text: string;
  setText(text: string): void;
  isRunning: boolean;
  ask(message: string): void;
  stop(): void;
  input?: RefObject<HTMLTextAreaElement | null>;
  /** Beside stopping. */
  whileRunning?: ComponentChildren;
}

export function Composer({ text, setText, isRunning, ask, stop, input, whileRunning }: ComposerProps) {
  return (
    <Form class="flex flex-wrap items-end justify-end gap-2 border-t border-line p-3" onSubmit={() => ask(text)}>
      <textarea
        ref={input ?? null}
        aria-label="Message"
        placeholder="Write as a visitor would…"
        rows={2}
        dir="auto"
        class="control max-h-48 min-w-48 flex-1 resize-none"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          ask(text);
        }}
      />
      {isRunning ? (
        // Keys, so that one button never becomes the other under the very click that stops.
        <div key="running" class="flex gap-2">
          {whileRunning}
          <Button icon={Square} onClick={stop}>
            Stop
          </Button>
        </div>
      ) : (
        <Button key="send" type="submit" kind="primary" icon={ArrowUp} disabled={text.trim() === ""}>
          Send
        </Button>
      )}
    </Form>
  );
}
