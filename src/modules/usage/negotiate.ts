/** Which of two representations an `Accept` header asks for. */

/** Whether CSV is wanted more than JSON; a tie goes to JSON, which is what is sent without the header. */
export function prefersCsv(accept: string | null): boolean {
  if (accept === null) return false;
  const quality = (...ranges: string[]) => {
    for (const range of ranges) {
      const entry = accept.split(",").find((part) => part.split(";", 1)[0]?.trim().toLowerCase() === range);
      if (entry !== undefined) return Number(/;\s*q\s*=\s*([\d.]+)/i.exec(entry)?.[1] ?? 1);
    }
    return 0;
  };
  return quality("text/csv", "text/*", "*/*") > quality("application/json", "application/*", "*/*");
}
