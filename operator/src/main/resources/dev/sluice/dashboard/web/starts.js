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

/** Bars of the ranges on one axis that begins now; a tick at each expected time. */
export function timeLine(plan) {
  const now = Date.parse(plan.now);
  const last = item => Date.parse(item.start.latest ?? item.start.expected);
  const end = Math.max(now + 60000, ...plan.items.map(last));
  const at = text => Math.max(0, Math.min(WIDTH, Math.round((WIDTH * (Date.parse(text) - now)) / (end - now))));
  return h('div.plan', {},
      plan.items.map(item => {
        const from = at(item.start.earliest);
        const to = item.start.latest ? at(item.start.latest) : WIDTH;
        const spoken = `${item.namespace}/${item.name} ${item.start.text}`;
        return h('a.plan-row', {
          key: `${item.namespace}/${item.name}`,
          href: `#/workload/${path(item.namespace, item.name)}`,
          title: spoken,
        },
        h('span.plan-name', {}, item.owner?.name ?? item.name),
        h('svg', {viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: 'none', role: 'img', 'aria-label': spoken},
            h('rect.plan-range', {x: from, y: 3, width: Math.max(4, to - from), height: 10}),
            h('rect.plan-expected', {x: Math.min(WIDTH - 3, at(item.start.expected)), y: 0, width: 3, height: 16})));
      }),
      h('div.plan-row.plan-axis', {}, h('span', {}), h('div.plan-ticks', {}, [0, 0.5, 1].map(part =>
        h('span', {title: moment(new Date(now + part * (end - now)).toISOString())},
            part ? `in ${duration((part * (end - now)) / 1000)}` : 'now')))));
}
