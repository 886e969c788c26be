/** Saves as a file what the server writes as CSV. */
import { Download } from "lucide-preact";
import { send } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import { Button } from "./button.tsx";
import { saveFile } from "./copy.tsx";
import { Problem } from "./states.tsx";

/** The button, and what went wrong if anything did. */
export function useCsv(path: string, fileName: string) {
  const csv = useAction(async () => {
    const response = await send("GET", path, { accept: "text/csv" });
    saveFile(fileName, await response.text(), "text/csv");
  });
  const button = (
    <Button icon={Download} isBusy={csv.isBusy} onClick={() => void csv.run()}>
      CSV
    </Button>
  );
  return { button, problem: <Problem error={csv.error} class="mb-4" /> };
}
