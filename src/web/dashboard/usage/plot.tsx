/** Bars over days, or one line for each of several: drawn by a library that only comes where something is plotted. */
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { formatCompact, formatNumber } from "../lib/format.ts";
import { isDark, theme } from "../lib/theme.ts";
import { Failure } from "../ui/states.tsx";
import type { Series } from "./series.ts";

interface PlotProps {
  /** What is plotted, for those who do not see it. */
  label: string;
  days: readonly string[];
  series: readonly Series[];
}

const heightPx = 260;
const colors = {
  light: ["#4f46e5", "#0e7490", "#b45309", "#be185d", "#4d7c0f", "#6b21a8"],
  dark: ["#a5a0ff", "#5bc8de", "#f2b45f", "#f58ac0", "#a9d36a", "#d3a6f5"],
};

export function Plot({ label, days, series }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const [hasFailed, setHasFailed] = useState(false);
  const shade = theme.value;

  // The theme is among them: it decides the colours.
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    let plot: uPlot | null = null;
    let isWanted = true;
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: heightPx }));
    import("uplot").then(
      ({ default: UPlot }) => {
        if (!isWanted) return;
        const times = days.map((day) => Date.parse(day) / 1000);
        const options = makeOptions(UPlot, element.clientWidth, series);
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
  }, [days, series, shade]);

  if (hasFailed) return <Failure error={null} onRetry={() => location.reload()} />;
  return <div ref={host} role="img" aria-label={label} class="plot min-h-[260px] w-full" />;
}

function makeOptions(UPlot: typeof uPlot, width: number, series: readonly Series[]): uPlot.Options {
  const palette = isDark() ? colors.dark : colors.light;
  const style = getComputedStyle(document.documentElement);
  const muted = style.getPropertyValue("--muted");
  const line = style.getPropertyValue("--line");
  const grid = { stroke: line, width: 1 };
  const axis = { stroke: muted, grid, ticks: { show: false }, font: "12px system-ui" };
  const isSingle = series.length === 1;
  return {
    width,
    height: heightPx,
    // Days are UTC days, wherever the screen is.
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { show: !isSingle, live: false },
    scales: {
      x: { range: (_, least, most) => [least - 43_200, most + 43_200] },
      y: { range: (_, __, most) => [0, topOf(most)] },
    },
    axes: [
      { ...axis, grid: { show: false }, values: "{MMM} {D}", space: 70 },
      {
        ...axis,
        size: 56,
        values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? formatCompact(tick) : "")),
      },
    ],
    series: [
      {},
      ...series.map(({ label }, index): uPlot.Series => {
        const color = palette[index % palette.length] ?? muted;
        const shared = { label, stroke: color, value: (_: uPlot, value: number) => formatNumber(value ?? 0) };
        const bars = UPlot.paths.bars?.({ size: [0.62, 44], radius: 0.25 });
        if (!isSingle || !bars) return { ...shared, width: 2, points: { size: 6, fill: color } };
        return { ...shared, fill: color, width: 0, paths: bars, points: { show: false } };
      }),
    ],
  };
}

function topOf(most: number): number {
  return most <= 4 ? 4 : most * 1.08;
}
