/** Text to take along: snippets, keys and links to copy, and files to save. */
import { Check, Copy } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { say } from "./toast.tsx";

/** Shows whether it worked, and resolves with that: the clipboard is absent on plain HTTP except on loopback, and refused in some frames. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
    return true;
  } catch {
    say("Your browser blocked copying. Select the text instead.");
    return false;
  }
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string | undefined }) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <Button onClick={async () => setIsCopied(await copy(text))}>
      {isCopied ? <Check size={16} aria-hidden="true" /> : <Copy size={16} aria-hidden="true" />}
      {isCopied ? "Copied" : label}
    </Button>
  );
}

export function Snippet({ text, copyLabel }: { text: string; copyLabel?: string }) {
  return (
    <div class="flow-root rounded-lg border border-line bg-sunken">
      <div class="float-right p-2 pl-3">
        <CopyButton text={text} label={copyLabel} />
      </div>
      {/* Wrapped, not scrolled: on a phone a scrolling box inside a scrolling page is hard to hold. */}
      <pre dir="ltr" class="p-3.5 font-mono text-13 leading-relaxed wrap-anywhere whitespace-pre-wrap">
        <code>{text}</code>
      </pre>
    </div>
  );
}

/** Offers a file created in this browser as a download. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Some browsers read the URL a moment later.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
