/** Bars over days, or one line for each of several: drawn by a library that is loaded only for plots. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatDay } from "../lib/format.ts";
import { use } from "../lib/state.ts";
import { theme } from "../lib/theme.ts";
import { Failure } from "../ui/states.tsx";
import { colorsOf, makeOptions, type PlotLibrary, plotHeightPx } from "./plot-options.ts";
import type { Measure, Series } from "./series.ts";

interface PlotProps {
  /** The accessible description of the plot. */
  label: string;
  days: readonly string[];
  series: readonly Series[];
  measure: Measure;
}

export function Plot({ label, days, series, measure }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const [hasFailed, setHasFailed] = useState(false);
  const [pointed, setPointed] = useState<number | null>(null);
  const shade = use(theme);

  // The theme is among them: it decides the colours.
  useEffect(() => {
    const element = host.current;
    if (!element || shade === null) return;
    let plot: InstanceType<PlotLibrary> | null = null;
    let isWanted = true;
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: plotHeightPx }));
    import("uplot").then(
      ({ default: UPlot }) => {
        if (!isWanted) return;
        const times = days.map((day) => Date.parse(day) / 1000);
        const options = makeOptions(UPlot, element.clientWidth, { series, measure, onPoint: setPointed });
        plot = new UPlot(options, [times, ...series.map(({ values }) => values)], element);
        observer.observe(element);
      },
      () => isWanted && setHasFailed(true),
    );
    return () => {
      isWanted = false;
      observer.disconnect();
      plot?.destroy();
    };
  }, [days, series, measure, shade]);

  if (hasFailed) return <Failure error={null} onRetry={() => location.reload()} />;
  const day = pointed === null ? undefined : days[pointed];
  const colors = colorsOf(series.length);
  return (
    <div>
      <p class="mb-1 h-5 text-right text-[0.86rem] text-muted tabular-nums" aria-hidden="true">
        {day && `${formatDay(day)}${series.length === 1 ? `: ${valueAt(measure, series[0], pointed)}` : ""}`}
      </p>
      <div ref={host} role="img" aria-label={label} class="plot w-full" style={{ minHeight: `${plotHeightPx}px` }} />
      {series.length > 1 && (
        <ul class="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-[0.86rem]" aria-label="Legend">
          {series.map((one, index) => (
            <li key={one.label} class="inline-flex min-w-0 items-center gap-2">
              <span class="size-2.5 shrink-0 rounded-full" style={{ background: colors[index] }} />
              <span dir="auto" class="max-w-56 truncate">
                {one.label}
              </span>
              {day && <span class="text-muted tabular-nums">{valueAt(measure, one, pointed)}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function valueAt({ format }: Measure, series: Series | undefined, index: number | null): string {
  return format(series?.values[index ?? 0] ?? 0);
}
