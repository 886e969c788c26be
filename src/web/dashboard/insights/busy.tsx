/** When conversations begin: a grid of weekdays and hours, in shades for eyes and as a table for screen readers. */
import { formatNumber } from "../lib/format.ts";

const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const [cell, gap, left, top] = [24, 2, 36, 18];
const step = cell + gap;
/** Of the accent, from the least to the most. */
const shades = ["fill-sunken", "fill-accent/25", "fill-accent/45", "fill-accent/70", "fill-accent"];

export function Busy({ busy }: { busy: readonly (readonly number[])[] }) {
  const most = Math.max(0, ...busy.flat());
  const shadeOf = (count: number) => shades[count === 0 ? 0 : Math.ceil((count / most) * (shades.length - 1))];
  return (
    <>
      <div class="overflow-x-auto" aria-hidden="true">
        <svg viewBox={`0 0 ${left + 24 * step} ${top + 7 * step}`} class="w-full min-w-160 text-muted">
          {Array.from({ length: 8 }, (_, index) => (
            <text key={index} x={left + index * 3 * step} y={12} font-size="11" class="fill-muted">
              {String(index * 3).padStart(2, "0")}
            </text>
          ))}
          {busy.map((hours, day) => (
            <g key={days[day]}>
              <text x={0} y={top + day * step + 16} font-size="11" class="fill-muted">
                {days[day]}
              </text>
              {hours.map((count, hour) => (
                <rect
                  key={hour}
                  x={left + hour * step}
                  y={top + day * step}
                  width={cell}
                  height={cell}
                  rx="4"
                  class={shadeOf(count)}
                >
                  <title>{`${days[day]} ${hour}:00: ${count}`}</title>
                </rect>
              ))}
            </g>
          ))}
        </svg>
      </div>
      <p class="mt-3 text-13 text-muted">
        {most === 0 ? "None began in this time." : `${formatNumber(most)} at most in one hour of the week.`}
      </p>
      <table class="sr-only">
        <caption>Conversations by weekday and hour</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {Array.from({ length: 24 }, (_, hour) => (
              <th key={hour} scope="col">{`${hour}:00`}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {busy.map((hours, day) => (
            <tr key={days[day]}>
              <th scope="row">{days[day]}</th>
              {hours.map((count, hour) => (
                <td key={hour}>{count}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
