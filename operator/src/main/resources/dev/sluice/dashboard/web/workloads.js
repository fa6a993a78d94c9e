// All Workloads that match a search.

import {h} from './dom.js';
import {get} from './api.js';
import {count} from './format.js';
import {STATES, workloadHeads, workloadRow} from './parts.js';
import {Rows} from './rows.js';

/** A list to choose from, whose choice leads to a place. */
const choice = (label, none, chosen, values, to) => h('label', {}, `${label} `,
    h('select', {onchange: event => {
      location.hash = to(event.target.value);
    }}, h('option', {value: '', selected: !chosen}, none),
    [...new Set(chosen ? [chosen, ...values] : values)].sort().map(
        value => h('option', {value, selected: value === chosen}, value))));

export function workloadsPage({app, query}) {
  let rows = null;
  let total = null;
  let namespaces = [];
  const href = changes => `#/workloads?${new URLSearchParams(
      Object.entries({...query, ...changes}).filter(([, value]) => value))}`;
  const filters = ['namespace', 'queue', 'clusterQueue', 'q'].filter(name => query[name]);
  return {
    title: 'Workloads',
    load: async signal => {
      const {localQueues} = await get('overview', {}, signal);
      namespaces = [...new Set(localQueues.map(queue => queue.namespace))].sort();
    },
    refresh: () => rows?.refresh(),
    move: by => rows?.move(by),
    close: () => rows?.close(),
    mounted(root) {
      if (!root || rows?.root === root) return;
      rows?.close();
      rows = new Rows(root, {
        label: 'Workloads',
        heads: workloadHeads(false),
        fetch: (offset, limit) => get('workloads', {...query, offset, limit}),
        row: item => workloadRow(item, false),
        total: found => {
          total = found;
          app.paint();
        },
      });
      rows.refresh().then(app.paint, app.failed);
    },
    render: () => [
      h('section.card', {},
          h('div.card-head', {},
              h('h1', {}, 'Workloads'),
              h('span.note', {id: 'total'}, total == null ? '' : `${count(total)} found`)),
          h('nav.chips', {'aria-label': 'State'},
              h('a', {href: href({state: ''}), 'aria-current': query.state ? null : 'true'}, 'All'),
              Object.entries(STATES).map(([state, label]) => h('a', {
                href: href({state}),
                'aria-current': query.state === state ? 'true' : null,
              }, label)),
              filters.map(name => h('a.filter', {
                href: href({[name]: ''}),
                'aria-label': `Remove the filter ${name} ${query[name]}`,
              }, `${name === 'q' ? 'search' : name}: ${query[name]}`, h('span', {}, ' ×')))),
          h('p.choices', {},
              choice('Namespace', 'all', query.namespace ?? '', namespaces, namespace => href({namespace})),
              choice('First', 'unfinished', query.sort ?? '', ['newest', 'oldest', 'priority', 'name'],
                  sort => href({sort}))),
          total === 0 && h('div.empty', {},
              h('p.empty-title', {}, 'No Workload found'),
              h('p', {}, 'None of those that you may see matches.')),
          h('div.rows', {'data-keep': `workloads-${JSON.stringify(query)}`, class: total === 0 ? 'none' : null})),
    ],
  };
}
