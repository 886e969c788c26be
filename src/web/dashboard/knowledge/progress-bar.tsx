/** How much of something is done. */

/** `share` is from 0 to 1. */
export function ProgressBar({ label, share }: { label: string; share: number }) {
  const percent = Math.floor(share * 100);
  return (
    <div class="relative mt-2 h-2.5 overflow-hidden rounded-full bg-line">
      <progress class="sr-only" aria-label={label} max={100} value={percent}>
        {percent} %
      </progress>
      <div class="absolute inset-y-0 left-0 bg-accent" style={{ width: `${percent}%` }} />
    </div>
  );
}
