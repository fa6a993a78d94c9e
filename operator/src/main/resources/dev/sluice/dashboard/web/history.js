// What a queue used, and how many waited, over the last hours.

import {h} from './dom.js';
import {amount, count, duration, moment} from './format.js';

const WIDTH = 600;
const HEIGHT = 60;

/** A gap of the samples as long as this is none: somebody paused the process. */
const GAP = 600000;

/** The values as an area above the axis; nothing where there is no value. */
function area(times, values, from, to, top) {
  const x = at => ((WIDTH * (times[at] - from)) / Math.max(1, to - from)).toFixed(1);
  const y = value => (HEIGHT - (HEIGHT * value) / top).toFixed(1);
  const pieces = [];
  let first = -1;
  for (let at = 0; at <= values.length; at++) {
    const ends = at === values.length || values[at] == null
      || (first >= 0 && times[at] - times[at - 1] > GAP);
    if (ends && first >= 0) {
      let line = `M${x(first)},${HEIGHT}`;
      for (let i = first; i < at; i++) line += `L${x(i)},${y(values[i])}`;
      pieces.push(`${line}L${x(at - 1)},${HEIGHT}Z`);
      first = -1;
    }
    if (at < values.length && values[at] != null && first < 0) first = at;
  }
  return pieces.join('');
}

function plot(past, name, kind, values, nominal, of) {
  const known = values.filter(value => value != null);
  if (!known.length) return null;
  const most = Math.max(...known);
  const top = Math.max(most, nominal ?? 0) * 1.05 || 1;
  const from = past.times[0];
  const to = past.times.at(-1);
  const y = nominal == null ? 0 : HEIGHT - (HEIGHT * nominal) / top;
  const words = `${of(known.at(-1))} now, ${of(Math.min(...known))} to ${of(most)} since ${moment(new Date(from).toISOString())}`
    + (nominal == null ? '' : `, ${of(nominal)} nominal`);
  return h('div.past', {key: `${kind}-${name.join('/')}`, title: words},
      h('span.pair', {}, h('b', {}, name[0]), name[1] && [' ', h('i', {}, name[1])]),
      h('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${name.join(' of ')}: ${words}`},
          h(`path.past-${kind}`, {d: area(past.times, values, from, to, top)}),
          nominal != null && h('rect.past-nominal', {x: 0, y: Math.max(0, y - 0.5).toFixed(1), width: WIDTH, height: 1})),
      h('span.figures', {}, h('b', {}, of(known.at(-1))), h('small', {}, `at most ${of(most)}`)));
}

/** Plots of a queue's past, one below the other on one axis; null while there is too little of it. */
export function pastOf(past, usage) {
  if (!past || past.times.length < 2 || !past.pending) return null;
  const nominal = each => usage.find(
      other => other.flavor === each.flavor && other.resource === each.resource)?.nominal;
  return h('div.pasts', {},
      plot(past, ['waiting'], 'pending', past.pending, null, count),
      past.usage.map(each => plot(past, [each.resource.split('/').at(-1), each.flavor], 'used',
          each.used, nominal(each), value => amount(each.resource, value))),
      h('div.past.past-axis', {}, h('span', {}), h('div.plan-ticks', {}, [1, 0.5, 0].map(part =>
        h('span', {}, part ? `${duration((part * (past.times.at(-1) - past.times[0])) / 1000)} ago` : 'now'))), h('span', {})));
}
