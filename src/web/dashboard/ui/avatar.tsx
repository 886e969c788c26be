/** A companion's avatar. */
import { useState } from "preact/hooks";
import { avatarImage, defaultThemeColor } from "../lib/color.ts";

interface AvatarProps {
  companion: { name: string; avatar_url: string | null; theme_color: string | null };
  size?: number;
}

export function Avatar({ companion, size = 36 }: AvatarProps) {
  const [broken, setBroken] = useState<string | null>(null);
  const made = avatarImage(companion.name, companion.theme_color ?? defaultThemeColor);
  const own = companion.avatar_url === broken ? null : companion.avatar_url;
  return (
    <img
      src={own ?? made}
      alt=""
      width={size}
      height={size}
      loading="lazy"
      referrerpolicy="no-referrer"
      onError={() => own && setBroken(own)}
      style={{ width: `${size}px`, height: `${size}px` }}
      class="shrink-0 rounded-full bg-sunken object-cover"
    />
  );
}
