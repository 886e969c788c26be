/** Files that are being sent, and those that could not be. */
import { X } from "lucide-preact";
import { formatBytes } from "../lib/format.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { focusPage } from "../ui/focus.ts";
import { ProgressBar } from "./progress-bar.tsx";
import type { Upload, Uploads } from "./use-uploads.ts";

export function UploadList({ uploads }: { uploads: Uploads }) {
  const { items, retry, dismiss } = uploads;
  if (items.length === 0) return null;
  return (
    <ul class="space-y-2" aria-label="Files on their way">
      {items.map((item) => (
        <li key={item.id} class="flex items-start gap-3 rounded-xl border border-line px-4 py-2.5">
          <div class="min-w-0 flex-1">
            <p class="wrap-anywhere">
              <span class="font-medium" dir="auto">
                {item.file.name}
              </span>{" "}
              <span class="text-[0.88rem] text-muted">{formatBytes(item.file.size)}</span>
            </p>
            {item.state === "failed" ? (
              <p role="alert" class="mt-0.5 text-[0.88rem] text-pretty text-bad">
                {item.problem}
              </p>
            ) : (
              <>
                <p class="text-[0.88rem] text-muted tabular-nums">{describe(item)}</p>
                <ProgressBar label={`Sending ${item.file.name}`} share={item.share} />
              </>
            )}
          </div>
          {item.state === "failed" && item.canRetry && (
            <Button onClick={() => retry(item.id)}>
              Try again<span class="sr-only"> {item.file.name}</span>
            </Button>
          )}
          {item.state === "failed" && (
            <IconButton
              label={`Dismiss ${item.file.name}`}
              onClick={() => {
                dismiss(item.id);
                focusPage();
              }}
            >
              <X size={18} aria-hidden="true" />
            </IconButton>
          )}
        </li>
      ))}
    </ul>
  );
}

function describe({ state, share }: Upload): string {
  if (state === "waiting") return "Waiting for the others";
  return share < 1 ? `${Math.floor(share * 100)} % sent` : "Sent, being checked";
}
