// The list of queues, and a page for each.

import {h} from './dom.js';
import {get, path} from './api.js';
import {amount, count, moment} from './format.js';
import {
  empty, figure, localQueueLink, problems, queueLink, quotaLine, section, workloadHeads, workloadRow,
} from './parts.js';
import {pastOf} from './history.js';
import {Rows} from './rows.js';
import {timeLine} from './starts.js';

const numbers = queue => [
  h('td.number', {}, count(queue.pending)),
  h('td.number.less', {}, count(queue.reserving - queue.admitted)),
  h('td.number', {}, count(queue.admitted)),
];

/** Columns that a phone has no room for. */
const LESS = ['Cohort', 'Strategy', 'Reserved'];

const heads = (...names) => {
  const columns = names.filter(name => name);
  return h('thead', {}, h('tr', {}, columns.map((name, at) => h('th', {
    scope: 'col',
    class: [at > columns.length - 4 && 'number', (LESS.includes(name) || (at > 0 && name === 'ClusterQueue')) && 'less']
      .filter(each => each).join(' ') || null,
  }, name))));
};

const state = queue => queue.problems
  ? h('span.badge.inactive', {title: queue.problems[0].message}, queue.problems[0].reason)
  : h('span.badge.admitted', {}, 'Active');

/** Runs without a limit, in words. */
const UNBOUNDED = {Refuse: 'a run without a limit waits', UseLimit: 'bound by the longest run of the queue', UseLearned: 'bound by what was learned'};

/** Who starts before the head that doesn't fit; null where nobody does. */
const backfill = queue => queue.backfill == null ? null
  : `back-fills behind ${queue.backfill.depth === 1 ? 'the head' : `${queue.backfill.depth} planned starts`}, ${UNBOUNDED[queue.backfill.unknownRunTime]}`;

/** What quota by time of day is multiplied by; null without a schedule. */
const factor = queue => queue.quotaFactor == null ? null
  : `quota × ${queue.quotaFactor}${queue.quotaFactorUntil ? ` until ${moment(queue.quotaFactorUntil)}` : ''}`;

function localQueueTable(queues, withClusterQueue) {
  return h('div.table-holder', {}, h('table', {},
      heads('LocalQueue', withClusterQueue && 'ClusterQueue', 'State', 'Pending', 'Reserved', 'Admitted'),
      h('tbody', {}, queues.map(queue => h('tr', {key: `${queue.namespace}/${queue.name}`},
          h('td', {}, localQueueLink(queue.namespace, queue.name), h('small', {}, queue.namespace)),
          withClusterQueue && h('td.less', {}, queue.clusterQueue),
          h('td', {}, state(queue)),
          numbers(queue))))));
}

export function queuesPage({app, query}) {
  let data = null;
  const load = async signal => {
    data = await get('overview', {}, signal);
  };
  return {
    title: 'Queues',
    load,
    refresh: load,
    render() {
      const words = (query.q ?? '').toLowerCase();
      const local = data.localQueues.filter(
          queue => `${queue.namespace}/${queue.name} ${queue.clusterQueue}`.toLowerCase().includes(words));
      const cluster = data.clusterQueues.filter(queue => queue.name.toLowerCase().includes(words));
      return [
        app.session.sees.clusterQueues && section('ClusterQueues', count(cluster.length),
            cluster.length ? h('div.table-holder', {}, h('table', {},
                heads('ClusterQueue', 'Cohort', 'Strategy', 'State', 'Pending', 'Reserved', 'Admitted'),
                h('tbody', {}, cluster.map(queue => h('tr', {key: queue.name},
                    h('td', {}, queueLink(queue.name), factor(queue) && h('small', {}, factor(queue))),
                    h('td.less', {}, queue.cohort ?? '–'),
                    h('td.less', {}, queue.strategy ?? '', backfill(queue) && h('small', {}, backfill(queue))),
                    h('td', {}, state(queue)),
                    numbers(queue)))))) : empty('No ClusterQueue', '')),
        section('LocalQueues', count(local.length),
            local.length ? localQueueTable(local, true)
              : empty('No LocalQueue', 'None in the namespaces that you may see.')),
      ];
    },
  };
}

/** A list of pending Workloads in their order. */
function pendingList(source) {
  let rows = null;
  return {
    mount(root) {
      if (rows?.root === root) return;
      rows?.close();
      rows = new Rows(root, {
        label: 'Pending Workloads in their order',
        heads: workloadHeads(true),
        fetch: (offset, limit) => get(source, {offset, limit}),
        row: item => workloadRow(item, true),
      });
      rows.refresh();
    },
    refresh: () => rows?.refresh(),
    move: by => rows?.move(by),
    close: () => rows?.close(),
  };
}

function limits(usage) {
  const of = (each, value, none) => (value == null ? none : amount(each.resource, value));
  return h('div.table-holder', {}, h('table', {},
      h('thead', {}, h('tr', {}, ['Flavor', 'Resource', 'Nominal', 'May borrow', 'May lend'].map(
          (name, at) => h('th', {scope: 'col', class: at > 1 ? 'number' : null}, name)))),
      h('tbody', {}, usage.map(each => h('tr', {key: `${each.flavor}/${each.resource}`},
          h('td', {}, each.flavor),
          h('td', {}, each.resource),
          h('td.number', {}, of(each, each.nominal, 'no limit')),
          h('td.number', {}, of(each, each.borrowingLimit, 'no limit')),
          h('td.number', {}, of(each, each.lendingLimit, 'all of it')))))));
}

/** The fields of an object, each with the path that leads to it. */
function fields(value, prefix = '') {
  if (Array.isArray(value)) return value.flatMap((each, at) => fields(each, `${prefix}[${at}]`));
  if (value === null || typeof value !== 'object') return [[prefix, String(value)]];
  const entries = Object.entries(value).filter(([, of]) => of != null);
  return entries.length === 0 ? [[prefix, '{}']]
    : entries.flatMap(([name, of]) => fields(of, prefix ? `${prefix}.${name}` : name));
}

const facts = spec => h('dl.facts', {}, fields(spec).map(([name, value]) =>
  h('div', {key: name}, h('dt', {}, name), h('dd', {}, value))));

export function queuePage({app, parts: [name]}) {
  let data = null;
  let queue = null;
  let plan = null;
  let policies = null;
  let past = null;
  const list = pendingList(path('pending', 'clusterqueues', name));
  const load = async signal => {
    // what is planned is left out where it can't be told
    [data, plan, policies, past] = await Promise.all([
      get('overview', {}, signal),
      get(path('starts', 'clusterqueues', name), {}, signal).catch(() => null),
      get(path('policies', 'clusterqueues', name), {}, signal).catch(() => null),
      get(path('history', 'clusterqueues', name), {}, signal).catch(() => null),
    ]);
    queue = data.clusterQueues.find(each => each.name === name);
  };
  return {
    title: name,
    load,
    refresh: () => Promise.all([load(), list.refresh()]),
    move: list.move,
    close: list.close,
    mounted: root => root && list.mount(root),
    render() {
      if (!queue) return empty(`No ClusterQueue ${name}`, 'It does not exist, or you may not see it.');
      const ancestors = [];
      for (let cohort = queue.cohort; cohort && ancestors.length < 20;) {
        ancestors.unshift(cohort);
        cohort = data.cohorts.find(each => each.name === cohort)?.parent;
      }
      const local = data.localQueues.filter(each => each.clusterQueue === name);
      const plots = pastOf(past, queue.usage);
      return [
        h('div.page-head', {},
            h('p.crumbs', {}, h('a', {href: '#/'}, 'Cohorts'), ancestors.map(each => [' / ', each])),
            h('h1', {}, name, state(queue)),
            h('p.note', {}, [queue.strategy, backfill(queue), factor(queue)].filter(each => each).join(' · '))),
        problems(queue.problems),
        h('div.figures-strip', {},
            figure(queue.pending, 'Pending'),
            figure(queue.inadmissible, 'of these inadmissible', null, '',
                'Tried in vain; each is tried again when quota that it lacks is released or changed.'),
            figure(queue.reserving - queue.admitted, 'Reserved',
                `#/workloads?state=reserved&clusterQueue=${encodeURIComponent(name)}`),
            figure(queue.admitted, 'Admitted',
                `#/workloads?state=admitted&clusterQueue=${encodeURIComponent(name)}`)),
        section('Quota', null, h('div.quotas', {}, queue.usage.map(usage => quotaLine(usage)))),
        plan?.items.length > 0 && section('Planned',
            'when pending Workloads are expected to start'
              + (plan.items.some(item => item.plan) ? '; a mark is the planned start, the latest that is promised' : ''),
            timeLine(plan)),
        section('Pending', 'in the order in which they are tried', h('div.rows', {'data-keep': `pending-${name}`})),
        local.length > 0 && section('LocalQueues', count(local.length), localQueueTable(local, false)),
        plots && section('The last hours', 'use, with the nominal quota as a line, and Workloads that waited', plots),
        section('Limits', 'of the quota above', limits(queue.usage)),
        policies && section('Policies', 'what the object says besides its quotas', facts(policies.spec)),
      ];
    },
  };
}

export function localQueuePage({app, parts: [namespace, name]}) {
  let data = null;
  let queue = null;
  const list = pendingList(path('pending', 'localqueues', namespace, name));
  const load = async signal => {
    data = await get('overview', {}, signal);
    queue = data.localQueues.find(each => each.namespace === namespace && each.name === name);
  };
  const all = state =>
    `#/workloads?${new URLSearchParams({namespace, queue: name, ...(state ? {state} : {})})}`;
  return {
    title: `${namespace}/${name}`,
    load,
    refresh: () => Promise.all([load(), list.refresh()]),
    move: list.move,
    close: list.close,
    mounted: root => root && list.mount(root),
    render() {
      if (!queue) return empty(`No LocalQueue ${namespace}/${name}`, 'It does not exist, or you may not see it.');
      return [
        h('div.page-head', {},
            h('p.crumbs', {}, h('a', {href: '#/queues'}, 'Queues'), ' / ', namespace),
            h('h1', {}, name, state(queue)),
            h('p.note', {}, 'feeds ClusterQueue ', app.session.sees.clusterQueues
              ? queueLink(queue.clusterQueue) : queue.clusterQueue)),
        problems(queue.problems),
        h('div.figures-strip', {},
            figure(queue.pending, 'Pending', all('pending')),
            figure(queue.reserving - queue.admitted, 'Reserved', all('reserved')),
            figure(queue.admitted, 'Admitted', all('admitted'))),
        section('Use', queue.usage[0]?.nominal == null ? null : 'against the quota of the ClusterQueue',
            h('div.quotas', {}, queue.usage.map(usage => quotaLine(usage)))),
        section('Pending', 'positions are those in the ClusterQueue',
            h('div.rows', {'data-keep': `pending-${namespace}/${name}`})),
      ];
    },
  };
}
