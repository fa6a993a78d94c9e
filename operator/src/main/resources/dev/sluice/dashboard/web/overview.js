// Cohorts as a tree: who has which quota, who uses, borrows and lends it.

import {h} from './dom.js';
import {get} from './api.js';
import {percent} from './format.js';
import {empty, figure, problems, queueLink, quotaLine, STATES} from './parts.js';

const choice = {resource: '', flavor: ''};
const folded = new Set();

/** Cohorts and queues as a list of rows with their depth, parents before children. */
export function tree({cohorts, clusterQueues}) {
  const below = new Map();
  const put = (parent, node) => below.set(parent, [...(below.get(parent) ?? []), node]);
  const names = new Set(cohorts.map(cohort => cohort.name));
  for (const cohort of cohorts) {
    put(!cohort.cycle && names.has(cohort.parent) ? cohort.parent : '', {...cohort, cohort: true});
  }
  for (const queue of clusterQueues) put(names.has(queue.cohort) ? queue.cohort : '', {...queue, queue: true});
  const rows = [];
  const seen = new Set();
  const visit = (node, depth) => {
    const key = `${node.queue ? 'q' : 'c'}:${node.name}`;
    if (seen.has(key)) return;
    seen.add(key);
    const children = node.queue ? [] : below.get(node.name) ?? [];
    rows.push({...node, key, depth, children: children.length});
    if (!folded.has(key)) {
      for (const child of children.filter(each => each.queue)) visit(child, depth + 1);
      for (const child of children.filter(each => !each.queue)) visit(child, depth + 1);
    }
  };
  const tops = below.get('') ?? [];
  for (const node of tops.filter(each => !each.queue)) visit(node, 0);
  for (const node of tops.filter(each => each.queue)) visit(node, 0);
  return rows;
}

const wanted = usage =>
  (!choice.resource || usage.resource === choice.resource)
  && (!choice.flavor || usage.flavor === choice.flavor);

/** The greatest amount of each pair among the siblings of a depth, so that bars can be compared. */
function scales(rows) {
  const scale = new Map();
  for (const row of rows) {
    for (const usage of row.usage) {
      const key = `${row.queue}/${usage.flavor}/${usage.resource}`;
      scale.set(key, Math.max(scale.get(key) ?? 0, usage.nominal ?? 0, usage.used));
    }
  }
  return (row, usage) => scale.get(`${row.queue}/${usage.flavor}/${usage.resource}`);
}

function select(label, name, values, repaint) {
  return h('label.select', {}, h('span', {}, label),
      h('select', {
        onchange: event => {
          choice[name] = event.target.value;
          repaint();
        },
      },
      h('option', {value: '', selected: choice[name] === ''}, 'all'),
      values.map(value => h('option', {value, selected: choice[name] === value}, value))));
}

export function overviewPage({app}) {
  let data = null;
  const load = async signal => {
    data = await get('overview', {}, signal);
  };
  const node = (row, scale) => h(`div.node.${row.queue ? 'is-queue' : 'is-cohort'}`, {
    key: row.key,
    role: 'treeitem',
    'aria-level': row.depth + 1,
    'aria-expanded': row.children ? String(!folded.has(row.key)) : null,
    vars: {depth: row.depth},
  },
  h('div.node-head', {},
      row.children
        ? h('button.fold', {
            'aria-label': `${folded.has(row.key) ? 'Show' : 'Hide'} what is in ${row.name}`,
            onclick: () => {
              if (!folded.delete(row.key)) folded.add(row.key);
              app.paint();
            },
          }, folded.has(row.key) ? '▸' : '▾')
        : h('span.fold', {}),
      row.queue ? queueLink(row.name) : h('span.cohort-name', {}, row.name),
      !row.queue && h('span.kind', {}, 'cohort'),
      row.share && h('span.kind', {title: 'dominant resource share, and weight'},
          row.share.value < 0 ? 'share ∞' : `share ${percent(row.share.value)}`,
          ` · weight ${row.share.weight}`),
      row.problems && h('span.badge.inactive', {title: row.problems[0].message}, row.problems[0].reason),
      row.cycle && h('span.badge.inactive', {}, 'parents form a cycle')),
  row.queue && h('div.node-counts', {},
      h('a', {href: `#/queue/${encodeURIComponent(row.name)}`, class: row.pending ? 'some' : 'none'},
          h('b', {}, String(row.pending)), ' pending'),
      h('span', {class: row.admitted ? 'some' : 'none'}, h('b', {}, String(row.admitted)), ' admitted')),
  h('div.node-quotas', {},
      row.usage.filter(wanted).map(usage => quotaLine(usage, {scale: scale(row, usage)}))));

  return {
    title: 'Cohorts',
    load,
    refresh: load,
    render() {
      const rows = tree(data);
      const all = [...data.clusterQueues, ...data.cohorts].flatMap(each => each.usage);
      const unique = of => [...new Set(all.map(of))].sort();
      const scale = scales(rows);
      const numbers = data.workloads;
      return [
        h('div.figures-strip', {},
            ['pending', 'admitted', 'reserved', 'stopping', 'inactive', 'finished']
              .filter(state => numbers[state] || ['pending', 'admitted'].includes(state))
              .map(state => figure(numbers[state], STATES[state], `#/workloads?state=${state}`, state))),
        app.session.sees.clusterQueues
          ? h('section.card.tree-card', {},
              h('div.card-head', {},
                  h('h1', {}, 'Cohorts and queues'),
                  h('div.choices', {},
                      select('Resource', 'resource', unique(each => each.resource), app.paint),
                      select('Flavor', 'flavor', unique(each => each.flavor), app.paint))),
              h('div.legend', {'aria-hidden': 'true'},
                  h('span.own', {}, 'used'), h('span.borrowed', {}, 'borrowed'),
                  h('span.lent', {}, 'lent'), h('span.idle', {}, 'idle')),
              rows.length
                ? h('div.tree', {role: 'tree', 'aria-label': 'Cohorts and ClusterQueues'},
                    rows.map(row => node(row, scale)))
                : empty('No queues yet', 'Create a ClusterQueue, and it appears here.'))
          : h('section.card', {},
              h('div.card-head', {}, h('h1', {}, 'Your queues')),
              data.localQueues.length
                ? data.localQueues.map(queue => h('div.node.is-queue', {key: `${queue.namespace}/${queue.name}`},
                    h('div.node-head', {},
                        h('a', {href: `#/localqueue/${encodeURIComponent(queue.namespace)}/${encodeURIComponent(queue.name)}`},
                            `${queue.namespace}/${queue.name}`),
                        h('span.kind', {}, queue.clusterQueue)),
                    h('div.node-counts', {},
                        h('span', {}, h('b', {}, String(queue.pending)), ' pending'),
                        h('span', {}, h('b', {}, String(queue.admitted)), ' admitted')),
                    h('div.node-quotas', {}, problems(queue.problems),
                        queue.usage.map(usage => quotaLine(usage)))))
                : empty('Nothing to see',
                    'You may list neither ClusterQueues nor the LocalQueues of any namespace. '
                    + 'The roles kueue-batch-user-role and kueue-batch-admin-role allow it.')),
      ];
    },
  };
}
