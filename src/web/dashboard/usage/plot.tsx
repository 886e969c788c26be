/** Bars over days, or one line for each of several: drawn by a library that is loaded only for plots. */
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { formatDay } from "../lib/format.ts";
import { use } from "../lib/state.ts";
import { isDark, theme } from "../lib/theme.ts";
import { Failure } from "../ui/states.tsx";
import type { Measure, Series } from "./series.ts";

/** As much of the library's style sheet as is used here; pages without plots load nothing of it. */
const sheet = new CSSStyleSheet();
sheet.replaceSync(`
  .u-wrap { position: relative }
  .u-wrap canvas { width: 100%; height: 100% }
  .u-wrap div { position: absolute; top: 0; left: 0 }
  .u-over { overflow: hidden }
  .u-cursor-x, .u-cursor-pt { pointer-events: none }
  .u-cursor-x { height: 100%; border-right: 1px dashed var(--edge) }
  .u-cursor-pt { border-radius: 50% }
  .u-select { display: none }
`);
document.adoptedStyleSheets.push(sheet);

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
        const options = makeOptions(UPlot, element, { series, measure, onPoint: setPointed });
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
    <div class="relative">
      <p class="absolute top-0 right-0 z-10 text-13 text-muted tabular-nums" aria-hidden="true">
        {day && `${formatDay(day)}${series.length === 1 ? `: ${valueAt(measure, series[0], pointed)}` : ""}`}
      </p>
      <div
        ref={host}
        role="img"
        aria-label={label}
        class="plot w-full border-line text-muted"
        style={{ minHeight: `${plotHeightPx}px` }}
      />
      {series.length > 1 && (
        <ul class="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-13" aria-label="Legend">
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

type PlotLibrary = typeof uPlot;

const plotHeightPx = 250;

const palettes = {
  light: ["#4f46e5", "#0e7490", "#b45309", "#be185d", "#4d7c0f", "#6b21a8"],
  dark: ["#a5a0ff", "#5bc8de", "#f2b45f", "#f58ac0", "#a9d36a", "#d3a6f5"],
};

/** Colours that differ from one another and from the theme's background. */
function colorsOf(count: number): string[] {
  const palette = isDark() ? palettes.dark : palettes.light;
  return Array.from({ length: count }, (_, index) => palette[index % palette.length] ?? "");
}

interface Plotted {
  series: readonly Series[];
  measure: Measure;
  onPoint(index: number | null): void;
}

function makeOptions(Library: PlotLibrary, host: HTMLElement, { series, measure, onPoint }: Plotted): uPlot.Options {
  const colors = colorsOf(series.length);
  // As they are for this theme: a canvas knows no names of colours.
  const { color, borderTopColor } = getComputedStyle(host);
  const grid = { stroke: borderTopColor, width: 1 };
  const axis = { stroke: color, grid, ticks: { show: false }, font: "12px system-ui" };
  return {
    width: host.clientWidth,
    height: plotHeightPx,
    padding: [8, 8, 0, 0],
    // Days are UTC days, wherever the screen is.
    tzDate: (seconds) => Library.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    cursor: { y: false, drag: { x: false, y: false }, points: { show: series.length > 1 } },
    legend: { show: false },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    scales: {
      x: { range: (_, least, most) => [least - 43_200, most + 43_200] },
      y: { range: (_, __, most) => [0, most <= measure.leastTop ? measure.leastTop : most * 1.08] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 22, values: "{MMM} {D}", space: 70 },
      {
        ...axis,
        size: (_, ticks) => Math.max(46, 12 + 6 * Math.max(0, ...(ticks ?? []).map((tick) => tick.length))),
        values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? measure.formatShort(tick) : "")),
      },
    ],
    series: [{}, ...series.map((one, index) => drawSeries(Library, one, colors[index] ?? "", series.length === 1))],
  };
}

function drawSeries(Library: PlotLibrary, { label }: Series, color: string, isSingle: boolean): uPlot.Series {
  const bars = Library.paths.bars?.({ size: [0.62, 44], radius: 0.25 });
  if (!isSingle || !bars) return { label, stroke: color, width: 2, points: { show: false } };
  return { label, stroke: color, fill: color, width: 0, paths: bars, points: { show: false } };
}
