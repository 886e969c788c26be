/** Finds circular imports in a source tree. */
import { findImports, resolveImport, type SourceTree } from "./architecture.ts";

/** Files that import one another in a circle, including types and dynamic imports: each circle as its files, sorted. */
export function findCircles(tree: SourceTree): string[][] {
  const importsOf = new Map(
    [...tree].map(([path, text]): [string, string[]] => {
      const own = findImports(text).filter(({ specifier }) => specifier.startsWith("."));
      return [path, own.map(({ specifier }) => resolveImport(path, specifier)).filter((target) => tree.has(target))];
    }),
  );
  // Tarjan's algorithm: files that can reach each other form a circle.
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const lower = (path: string, to: number) => lowest.set(path, Math.min(lowest.get(path) ?? to, to));

  function visit(path: string): void {
    const own = order.size;
    order.set(path, own);
    lower(path, own);
    open.push(path);
    for (const target of importsOf.get(path) ?? []) {
      if (!order.has(target)) {
        visit(target);
        lower(path, lowest.get(target) ?? own);
      } else if (open.includes(target)) lower(path, order.get(target) ?? own);
    }
    if (lowest.get(path) !== own) return;
    const circle = open.splice(open.indexOf(path));
    if (circle.length > 1) circles.push(circle.sort());
  }

  for (const path of importsOf.keys()) if (!order.has(path)) visit(path);
  return circles;
}
