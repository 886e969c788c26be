/** A button that copies a text, and shows that it did. */
import { dressButton, iconButton, icons } from "./dom.ts";

/** `copied` is called as well, for those who do not see it. */
export function createCopyButton(
  words: { copy: string; copied: string },
  getText: () => string,
  copied?: () => void,
): HTMLButtonElement {
  const button = iconButton("copy", icons.copy, words.copy, async () => {
    // Refused in some frames, absent on plain HTTP: then the button does not say that it copied.
    await navigator.clipboard.writeText(getText());
    dressButton(button, icons.check, words.copied);
    copied?.();
  });
  return button;
}
