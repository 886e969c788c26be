/** A button that lets files be chosen. */
import { Upload } from "lucide-preact";
import { useRef } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { acceptedFiles } from "./source-words.ts";

interface FileButtonProps {
  label: string;
  multiple?: boolean;
  onFiles(files: readonly File[]): void;
}

export function FileButton({ label, multiple = false, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple={multiple}
        accept={acceptedFiles}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // So that the same file can be chosen again.
          currentTarget.value = "";
        }}
      />
      <Button icon={Upload} onClick={() => input.current?.click()}>
        {label}
      </Button>
    </>
  );
}
