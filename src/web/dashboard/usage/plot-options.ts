/** How plots look, as options of the plotting library. */
import type uPlot from "uplot";
import { isDark } from "../lib/theme.ts";
import type { Measure, Series } from "./series.ts";

export type PlotLibrary = typeof uPlot;

export const plotHeightPx = 250;

const palettes = {
  light: ["#4f46e5", "#0e7490", "#b45309", "#be185d", "#4d7c0f", "#6b21a8"],
  dark: ["#a5a0ff", "#5bc8de", "#f2b45f", "#f58ac0", "#a9d36a", "#d3a6f5"],
};

/** Colours that differ from one another and from the theme's background. */
export function colorsOf(count: number): string[] {
  const palette = isDark() ? palettes.dark : palettes.light;
  return Array.from({ length: count }, (_, index) => palette[index % palette.length] ?? "");
}

interface Plotted {
  series: readonly Series[];
  measure: Measure;
  onPoint(index: number | null): void;
}

export function makeOptions(Library: PlotLibrary, width: number, { series, measure, onPoint }: Plotted): uPlot.Options {
  const colors = colorsOf(series.length);
  const style = getComputedStyle(document.documentElement);
  const colorOf = (name: string) => style.getPropertyValue(`--color-${name}`);
  const grid = { stroke: colorOf("line"), width: 1 };
  const axis = { stroke: colorOf("muted"), grid, ticks: { show: false }, font: "12px system-ui" };
  return {
    width,
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
      { ...axis, grid: { show: false }, size: 30, values: "{MMM} {D}", space: 70 },
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
