/** Where uploaded avatars are served. */

/** The image never changes under this address. */
export const avatarPath = (hash: string): string => `/avatars/${hash}.webp`;

const filePattern = /^([0-9a-f]{32})\.webp$/;

/** The hash in a file's name; null for other names. */
export const hashOfAvatar = (file: string): string | null => filePattern.exec(file)?.[1] ?? null;
