// Pieces that several pages are made of.

import {h} from './dom.js';
import {path} from './api.js';
import {ago, amount, count, moment, serverTime} from './format.js';
import {startCell} from './starts.js';

export const STATES = {
  pending: 'Pending',
  stopping: 'Stopping',
  reserved: 'Reserved',
  admitted: 'Admitted',
  inactive: 'Inactive',
  finished: 'Finished',
};

/** A fault is a Workload that is not tried until somebody puts an object right. */
export const stateBadge = ({state, fault}) => fault
  ? h('span.badge.inactive', {title: 'It is not tried until an object is put right.'}, 'Fault')
  : h(`span.badge.${state}`, {}, STATES[state] ?? state);

export const time = text =>
  h('time', {datetime: text, title: moment(text)}, ago(text));

export const queueLink = name => h('a', {href: `#/queue/${path(name)}`}, name);

export const localQueueLink = (namespace, name) =>
  h('a', {href: `#/localqueue/${path(namespace, name)}`}, name);

export const workloadHref = (namespace, name) => `#/workload/${path(namespace, name)}`;

/** People know a Workload by its job. */
export const workloadLink = ({namespace, name, owner}) =>
  h('a', {href: workloadHref(namespace, name), title: owner ? `Workload ${name}` : null},
      owner ? `${owner.kind} ${namespace}/${owner.name}` : `${namespace}/${name}`);

export const problems = list =>
  (list ?? []).map(problem =>
    h('p.notice.warn', {}, h('strong', {}, problem.reason), ' ', problem.message));

export const empty = (title, text) =>
  h('div.empty', {}, h('p.empty-title', {}, title), text && h('p', {}, text));

/** What a bar says, in words. */
function spoken(usage) {
  const of = value => amount(usage.resource, value);
  return `${usage.resource} of flavor ${usage.flavor}: ${of(usage.used)} used`
    + (usage.nominal == null ? '' : ` of ${of(usage.nominal)} nominal`)
    + (usage.borrowed ? `, ${of(usage.borrowed)} borrowed` : '')
    + (usage.lent ? `, ${of(usage.lent)} lent` : '');
}

/**
 * Used, borrowed and lent against the nominal quota; `scale` is the amount of the whole width. Use that has no limit and
 * no scale fills no part of anything.
 */
export function bar(usage, scale) {
  if (usage.nominal == null && !scale) {
    return h('div.meter', {role: 'img', 'aria-label': spoken(usage), title: spoken(usage), vars: {nominal: '100%'}});
  }
  const nominal = usage.nominal ?? usage.used;
  const whole = Math.max(scale ?? 0, nominal, usage.used) || 1;
  const part = value => `${Math.min(100, (100 * Math.max(0, value)) / whole).toFixed(2)}%`;
  const own = Math.min(usage.used, nominal);
  return h('div.meter', {
    role: 'img',
    'aria-label': spoken(usage),
    title: spoken(usage),
    vars: {nominal: part(nominal)},
  },
  h('span.own', {vars: {size: part(own)}}),
  usage.borrowed > 0 && h('span.borrowed', {vars: {from: part(nominal), size: part(usage.borrowed)}}),
  usage.lent > 0 && h('span.lent', {vars: {from: part(nominal - usage.lent), size: part(usage.lent)}}),
  usage.nominal != null && h('span.mark', {}));
}

/** One pair of flavor and resource of a queue or a cohort. */
export function quotaLine(usage, options = {}) {
  const of = value => amount(usage.resource, value);
  return h('div.quota', {},
      h('span.pair', {title: `${usage.resource} of flavor ${usage.flavor}`},
          h('b', {}, usage.resource.split('/').at(-1)), ' ', h('i', {}, usage.flavor)),
      bar(usage, options.scale),
      h('span.figures', {},
          h('b', {}, of(usage.used)),
          usage.nominal != null && h('span.of', {}, ` / ${of(usage.nominal)}`)),
      h('span.loans', {},
          usage.borrowed > 0 && h('span.loan.borrowed', {}, `+${of(usage.borrowed)} borrowed`),
          usage.lent > 0 && h('span.loan.lent', {}, `${of(usage.lent)} lent`)));
}

/** A figure that leads somewhere. */
export const figure = (value, label, href, kind = '', title = null) =>
  h(href ? 'a.figure' : 'div.figure', {href, class: kind || null, title},
      h('b', {}, count(value)), h('span', {}, label));

export const section = (title, note, ...content) =>
  h('section.card', {},
      h('div.card-head', {}, h('h2', {}, title), note && h('span.note', {}, note)), ...content);

/** The columns of a list of Workloads. */
export function workloadRow(item, withPosition) {
  if (item.hidden) {
    return h('div.row.hidden-row', {role: 'row'},
        h('span.position', {role: 'cell'}, String(item.position + 1)),
        h('span.name', {role: 'cell'}, 'a Workload that you may not see'));
  }
  return h('a.row', {
    role: 'row',
    href: workloadHref(item.namespace, item.name),
    class: item.inadmissible ? 'inadmissible' : null,
  },
  withPosition && h('span.position', {role: 'cell'}, String(item.position + 1)),
  h('span.name', {role: 'cell'},
      h('b', {}, item.owner ? item.owner.name : item.name),
      h('small', {}, item.owner ? `${item.owner.kind} in ${item.namespace}` : item.namespace)),
  h('span.where', {role: 'cell'}, item.queue || '–',
      item.clusterQueue && h('small', {}, item.clusterQueue)),
  h('span.why', {role: 'cell', title: item.message || null},
      h('span', {}, item.message || item.reason)),
  h('span.priority', {role: 'cell', title: 'priority'}, String(item.priority ?? '')),
  h('span.state', {role: 'cell'}, item.state && stateBadge(item)),
  withPosition && h('span.starts', {role: 'cell', title: item.start?.text}, startCell(item.start, serverTime())),
  h('span.when', {role: 'cell'}, item.since && time(item.since)));
}

export const workloadHeads = withPosition => [
  withPosition && h('span.position', {role: 'columnheader'}, '#'),
  h('span.name', {role: 'columnheader'}, 'Job'),
  h('span.where', {role: 'columnheader'}, 'Queue'),
  h('span.why', {role: 'columnheader'}, 'Reason'),
  h('span.priority', {role: 'columnheader'}, 'Priority'),
  h('span.state', {role: 'columnheader'}, 'State'),
  withPosition && h('span.starts', {role: 'columnheader'}, 'Starts'),
  h('span.when', {role: 'columnheader'}, 'Since'),
];
