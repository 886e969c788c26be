/** When conversations begin: a grid of weekdays and hours, in shades for eyes and as a table for screen readers. */
import { formatNumber } from "../lib/format.ts";

const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/** Of the accent, from the least to the most. */
const opacities = [0.25, 0.45, 0.7, 1];

export function Busy({ busy }: { busy: readonly (readonly number[])[] }) {
  const most = Math.max(0, ...busy.flat());
  const shadeOf = (count: number) =>
    count === 0
      ? { class: "fill-sunken" }
      : { class: "fill-accent", "fill-opacity": opacities[Math.ceil((count / most) * opacities.length) - 1] };
  return (
    <>
      <div aria-hidden="true" class="text-12 text-muted">
        <div class="mb-1 flex pl-10">
          {Array.from({ length: 8 }, (_, index) => (
            <span key={index} class="flex-1">
              {String(index * 3).padStart(2, "0")}
            </span>
          ))}
        </div>
        {busy.map((hours, day) => (
          <div key={days[day]} class="flex items-center">
            <span class="w-10 shrink-0">{days[day]}</span>
            <svg aria-hidden="true" viewBox="0 0 240 10" preserveAspectRatio="none" class="h-7 min-w-0 flex-1">
              {hours.map((count, hour) => (
                <rect key={hour} x={hour * 10 + 0.5} y="0.5" width="9" height="9" {...shadeOf(count)}>
                  <title>{`${days[day]} ${hour}:00: ${count}`}</title>
                </rect>
              ))}
            </svg>
          </div>
        ))}
      </div>
      <p class="mt-3 text-13 text-muted">
        {most === 0 ? "None began in this time." : `${formatNumber(most)} at most in one hour of the week.`}
      </p>
      <div class="sr-only">
        <table>
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
      </div>
    </>
  );
}
