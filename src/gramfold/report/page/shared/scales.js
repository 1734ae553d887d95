// Round numbers for axes, colour bars and scale bars.

const STEPS = [1, 2, 5, 10];
const DAY = 86_400_000;
const SPANS = [1e3, 5e3, 15e3, 6e4, 3e5, 9e5, 36e5, 6 * 36e5, DAY, 2 * DAY, 7 * DAY, 14 * DAY]; // up to months

/** The largest of 1, 2, 5 times a power of ten that is not above a number. */
export function roundBelow(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (STEPS.findLast((step) => step * power <= value * (1 + 1e-9)) ?? 1);
}

/** How far between two numbers a value lies, from 0 to 1. They are halved first, since their difference may be none. */
export const shareBetween = (value, low, high) => (value / 2 - low / 2) / (high / 2 - low / 2 || 1);

/** About so many round numbers between two numbers. */
export function roundTicks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const least = high / count - low / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * STEPS.find((one) => one * power >= least * (1 - 1e-9));
  const digits = Math.max(0, -Math.floor(Math.log10(step)) + 1);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    ticks.push(Number((k * step).toFixed(Math.min(digits, 20))));
  }
  return ticks;
}

/** About so many round moments between two, and how to write them. */
export function dateTicks(low, high, count = 4) {
  if (!(high > low)) return { ticks: [low], write: (ms) => new Date(ms).toISOString().slice(0, 10) };
  const wanted = high / count - low / count;
  const span = SPANS.find((one) => one >= wanted);
  if (span) {
    const ticks = [];
    for (let ms = Math.ceil(low / span) * span; ms <= high; ms += span) ticks.push(ms);
    const part = span >= DAY ? [0, 10] : span >= 6e4 ? [5, 16] : [11, 19];
    return {
      ticks,
      write: (ms) =>
        new Date(ms)
          .toISOString()
          .slice(...part)
          .replace("T", " "),
    };
  }
  const months = [1, 3, 6, 12].find((one) => one * 30.4 * DAY >= wanted);
  const years = months ? 0 : Math.max(roundBelow(wanted / DAY / 365.25), 1);
  const step = months ?? years * 12;
  const first = new Date(low);
  let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step;
  const ticks = [];
  for (; ticks.length < 100; month += step) {
    const ms = Date.UTC(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
    if (ms > high) break;
    if (ms >= low) ticks.push(ms);
  }
  return { ticks, write: (ms) => new Date(ms).toISOString().slice(0, step % 12 ? 7 : 4) };
}

/** The value below which a share of sorted numbers lies, between two of them where need be. */
export function quantileOf(sorted, share) {
  if (!sorted.length) return NaN;
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  const step = sorted[above] / 2 - sorted[below] / 2;
  return sorted[below] + (place - below) * step + (place - below) * step;
}
