/** The secret of a one-time link: in the fragment, which browsers do not send. */
import { signInPath } from "../lib/router.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Door } from "./door.tsx";

export function readLinkSecret(): string {
  return location.hash.slice(1);
}

export function LinkIncomplete() {
  return (
    <Door title="The link is incomplete" lead="Copy the whole link, with what follows the # sign, and open it again.">
      <ButtonLink href={signInPath} class="w-full">
        To the sign-in
      </ButtonLink>
    </Door>
  );
}
