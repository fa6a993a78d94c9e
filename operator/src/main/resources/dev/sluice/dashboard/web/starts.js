// When pending Workloads are expected to start: a time for a list, and a time line for a queue.

import {h} from './dom.js';
import {path} from './api.js';
import {duration, moment} from './format.js';

/** Where run times come from, in words. */
const BASES = {
  Declared: 'by declared run times',
  Learned: 'by learned run times',
  Limit: 'by the limits of run times',
  QueueHistory: 'by how long others waited in the queue',
};

/** Start times without a date, in words. */
const DATELESS = {Never: 'never', Unknown: 'unknown'};

export const basis = start => BASES[start.basis] ?? '';

/** The expected time, as it is told in a list. */
export function startCell(start, now) {
  if (!start) return '–';
  if (!start.expected) return DATELESS[start.basis] ?? '–';
  return `in ${duration(Math.max(0, (Date.parse(start.expected) - now) / 1000))}`;
}

const WIDTH = 1000;

/** Bars of the ranges on one axis that begins now; a tick at each expected time, and a mark at each planned start. */
export function timeLine(plan) {
  const now = Date.parse(plan.now);
  const last = item => [item.start?.latest ?? item.start?.expected, item.plan?.plannedStart]
    .filter(text => text).map(text => Date.parse(text));
  const end = Math.max(now + 60000, ...plan.items.flatMap(last));
  const at = text => Math.max(0, Math.min(WIDTH, Math.round((WIDTH * (Date.parse(text) - now)) / (end - now))));
  return h('div.plan', {},
      plan.items.map(item => {
        const {start, plan: promise} = item;
        const spoken = [
          `${item.namespace}/${item.name}`,
          start?.text,
          promise && `planned to start by ${moment(promise.plannedStart)} at the latest`,
          promise?.lateBy && `promised ${moment(promise.promised)}, later by ${promise.lateBy.join(', ')}`,
        ].filter(text => text).join(' – ');
        return h('a.plan-row', {
          key: `${item.namespace}/${item.name}`,
          href: `#/workload/${path(item.namespace, item.name)}`,
          title: spoken,
        },
        h('span.plan-name', {}, item.owner?.name ?? item.name),
        h('svg', {viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: 'none', role: 'img', 'aria-label': spoken},
            start?.expected && range(start, at),
            start?.expected && h('rect.plan-expected', {x: Math.min(WIDTH - 3, at(start.expected)), y: 0, width: 3, height: 16}),
            promise && h(promise.lateBy ? 'rect.plan-promise.late' : 'rect.plan-promise',
                {x: Math.min(WIDTH - 6, at(promise.plannedStart)), y: 0, width: 6, height: 16})));
      }),
      h('div.plan-row.plan-axis', {}, h('span', {}), h('div.plan-ticks', {}, [0, 0.5, 1].map(part =>
        h('span', {title: moment(new Date(now + part * (end - now)).toISOString())},
            part ? `in ${duration((part * (end - now)) / 1000)}` : 'now')))));
}

function range(start, at) {
  const from = at(start.earliest);
  const to = start.latest ? at(start.latest) : WIDTH;
  return h('rect.plan-range', {x: from, y: 3, width: Math.max(4, to - from), height: 10});
}
