/** Files that are dropped anywhere on the page. */
import { useEffect, useRef, useState } from "preact/hooks";

/** Whether files are held over the page now. */
export function useDroppedFiles(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const act = useRef(onFiles);
  act.current = onFiles;
  useEffect(() => {
    const holdsFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
    // A dialog has fields of its own for files.
    const isElsewhere = () => document.querySelector("dialog[open]") !== null;
    const onDragOver = (event: DragEvent) => {
      if (!holdsFiles(event) || isElsewhere()) return;
      // Otherwise the browser would open the file in place of the page.
      event.preventDefault();
      setIsOver(true);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) setIsOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setIsOver(false);
      if (!holdsFiles(event) || isElsewhere()) return;
      event.preventDefault();
      act.current(filesOf(event));
    };
    const listeners = { dragover: onDragOver, dragleave: onDragLeave, drop: onDrop };
    const all = Object.entries(listeners) as [string, EventListener][];
    for (const [name, listener] of all) window.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of all) window.removeEventListener(name, listener);
    };
  }, []);
  return isOver;
}

/** Without folders, which browsers hand over as files that cannot be read. */
function filesOf({ dataTransfer }: DragEvent): File[] {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === "file");
  const files = items.filter((item) => !item.webkitGetAsEntry?.()?.isDirectory).map((item) => item.getAsFile());
  return files.filter((file) => file !== null);
}
