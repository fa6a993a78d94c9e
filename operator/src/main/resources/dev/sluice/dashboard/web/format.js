// Numbers, amounts and times, as people read them.

let skew = 0;

/** Takes the server's clock for the right one. */
export function setNow(text) {
  skew = Date.parse(text) - Date.now();
}

/** The server's time, in milliseconds. */
export const serverTime = () => Date.now() + skew;

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const short = new Intl.NumberFormat('en', {maximumSignificantDigits: 4});
const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

export const count = number => whole.format(number ?? 0);

/** An amount of a resource: thousandths for cpu, whole units for everything else. */
export function amount(resource, value) {
  if (value == null) return '∞';
  if (resource === 'cpu') return short.format(value / 1000);
  if (/memory|storage|hugepages/.test(resource)) {
    let unit = 0;
    let left = value;
    while (Math.abs(left) >= 1024 && unit < UNITS.length - 1) {
      left /= 1024;
      unit++;
    }
    return `${short.format(left)}${unit ? ` ${UNITS[unit]}` : ''}`;
  }
  return whole.format(value);
}

export const percent = part => `${Math.round(part * 100)} %`;

/** How long ago, in the largest unit that says enough. */
export function ago(text) {
  const seconds = Math.max(0, (Date.now() + skew - Date.parse(text)) / 1000);
  return duration(seconds);
}

export function duration(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 36000) {
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  }
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

const clock = new Intl.DateTimeFormat(
    undefined, {dateStyle: 'medium', timeStyle: 'medium'});

export const moment = text => clock.format(new Date(text));
