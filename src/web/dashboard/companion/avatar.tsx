/** A companion's face: its own picture, or its initial on its colour. */
import { useState } from "preact/hooks";
import { avatarImage, defaultThemeColor } from "../lib/color.ts";
import type { Companion } from "../lib/types.ts";

/** `size` is in pixels. */
export function Avatar({ companion, size = 36 }: { companion: Companion; size?: 36 | 48 }) {
  const [broken, setBroken] = useState<string | null>(null);
  const made = avatarImage(companion.name, companion.theme_color ?? defaultThemeColor);
  const given = companion.avatar_url ?? companion.avatar?.url ?? null;
  const own = given === broken ? null : given;
  return (
    <img
      src={own ?? made}
      alt=""
      width={size}
      height={size}
      referrerpolicy="no-referrer"
      onError={() => own && setBroken(own)}
      class={`shrink-0 rounded-full border border-line bg-sunken object-cover ${size === 48 ? "size-12" : "size-9"}`}
    />
  );
}
