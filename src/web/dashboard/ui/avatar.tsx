/** A companion's avatar. */
import { useState } from "preact/hooks";
import { avatarImage, defaultThemeColor } from "../lib/color.ts";
import type { Companion } from "../lib/types.ts";

export function Avatar({ companion }: { companion: Companion }) {
  const [broken, setBroken] = useState<string | null>(null);
  const made = avatarImage(companion.name, companion.theme_color ?? defaultThemeColor);
  const own = companion.avatar_url === broken ? null : companion.avatar_url;
  return (
    <img
      src={own ?? made}
      alt=""
      width={36}
      height={36}
      loading="lazy"
      referrerpolicy="no-referrer"
      onError={() => own && setBroken(own)}
      class="size-[36px] shrink-0 rounded-full bg-sunken object-cover"
    />
  );
}
