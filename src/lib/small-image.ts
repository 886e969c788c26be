/** Makes images that others sent small: decoded outside the event loop, and without what they say of their origin. */
import { createSemaphore } from "./semaphore.ts";

/** Decoding takes four bytes of memory for a pixel, and for some images five times that. */
const maxPixels = 20_000_000;
const formats: readonly string[] = ["png", "jpeg", "webp"];
/** Rejects with `SemaphoreFull` where too many wait. */
const decoding = createSemaphore({ concurrency: 1, maxWaiting: 8 });

export type ImageFault = "another format" | "too many pixels" | "broken";

/**
 * As WebP of at most `side` pixels in width and height, upright; or why there is none. PNG, JPEG and WebP are known, by
 * their first bytes. Pixels are counted before any is decoded.
 */
export async function makeSmallImage(bytes: Uint8Array, side: number): Promise<Uint8Array | ImageFault> {
  return await decoding.run(async () => {
    try {
      const { format } = await new Bun.Image(bytes, { maxPixels }).metadata();
      if (!formats.includes(format)) return "another format";
      const image = new Bun.Image(bytes, { maxPixels, autoOrient: true });
      return await image.resize(side, side, { fit: "inside", withoutEnlargement: true }).webp({ quality: 88 }).bytes();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : null;
      if (code === "ERR_IMAGE_UNKNOWN_FORMAT" || code === "ERR_IMAGE_FORMAT_UNSUPPORTED") return "another format";
      return code === "ERR_IMAGE_TOO_MANY_PIXELS" ? "too many pixels" : "broken";
    }
  });
}
