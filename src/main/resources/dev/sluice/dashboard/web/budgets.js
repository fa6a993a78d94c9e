// Budgets: what is spent, reserved and left, until when, and whom they hold; and what was used, with its cost.

import {h} from './dom.js';
import {get} from './api.js';
import {command} from './cluster.js';
import {count, moment, percent} from './format.js';
import {empty, section, workloadLink} from './parts.js';

/** Nobody is told of changes to what is read with a user's token, so an open page reads it again so often, in milliseconds. */
const PERIOD = 15000;

/** How a page loads what it shows, and keeps up with it while it is open. */
export function byTimer(app, fetch) {
  const here = location.hash;
  let timer = null;
  return {
    load: async signal => {
      await fetch(signal);
      timer ||= setInterval(() => {
        if (location.hash !== here) clearInterval(timer);
        else if (!document.hidden) fetch().then(app.paint, app.failed);
      }, PERIOD);
    },
    close: () => clearInterval(timer),
  };
}

/** What a person does who is logged in without a token. */
export const withoutToken = commands => [
  h('p.note', {}, 'You are logged in without a token of your own. In a terminal:'),
  commands.map(each => command(each)),
];

const until = text => (Number.isNaN(Date.parse(text)) ? '–' : moment(text));

const MONEY = 'cost';

function limitLine(limit, currency) {
  const unit = limit.resource === MONEY ? currency || 'money' : `${limit.resource} hours`;
  const words = `${limit.spent} spent and ${limit.reserved} reserved of ${limit.limit} ${unit}, ${limit.remaining} left`;
  const part = value => `${Math.min(100, 100 * Math.max(0, value)).toFixed(2)}%`;
  return h('div.quota', {key: `${limit.resource}/${limit.flavors.join()}`},
      h('span.pair', {}, h('b', {}, limit.resource.split('/').at(-1)),
          limit.flavors.length > 0 && [' ', h('i', {}, limit.flavors.join(', '))]),
      h('div.meter', {role: 'img', 'aria-label': words, title: words, vars: {nominal: '100%'}},
          h(`span.${limit.spentPart >= 1 ? 'borrowed' : 'own'}`, {vars: {from: '0%', size: part(limit.spentPart)}}),
          limit.reservedPart > 0 && h('span.lent', {
            vars: {from: part(limit.spentPart), size: part(Math.min(limit.reservedPart, 1 - limit.spentPart))},
          })),
      h('span.figures', {}, h('b', {}, limit.spent), h('span.of', {}, ` / ${limit.limit}`)),
      h('span.loans', {}, `${percent(limit.spentPart)} spent, ${limit.remaining} left`,
          limit.reservedPart > 0 && h('span.loan.lent', {}, `${limit.reserved} reserved`)));
}

const ACTIONS = {Warn: 'warns', Hold: 'holds what does not fit', HoldAndDrain: 'holds, and evicts what runs'};

const card = (budget, currency) => h('section.card', {key: budget.name},
    h('div.card-head', {},
        h('h2', {}, budget.name),
        budget.exhausted && h('span.badge.inactive', {}, 'Exhausted'),
        h('span.note', {}, budget.scope)),
    budget.fault && h('p.notice.warn', {}, `It counts nothing: ${budget.fault}`),
    h('p.note', {}, [
      budget.rolling ? `the last ${budget.rolling}` : `${budget.period || 'Monthly'}, until ${until(budget.end)}`,
      ACTIONS[budget.action] ?? budget.action,
      budget.exhaustion && `spent ${until(budget.exhaustion)} at this rate`,
    ].filter(text => text).join(' · ')),
    h('div.quotas', {}, budget.limits.map(limit => limitLine(limit, currency))),
    budget.holds > 0 && [
      h('h3', {}, `Held: ${count(budget.holds)}`),
      h('ul.held', {}, budget.held.map(each => h('li', {key: `${each.namespace}/${each.name}`},
          workloadLink(each), h('small', {}, each.message)))),
      budget.holds > budget.held.length && h('p.note', {}, `and ${count(budget.holds - budget.held.length)} more`),
    ]);

const HOUR = 3600;
const GIB = 1024 ** 3;
const figures = new Intl.NumberFormat('en', {minimumFractionDigits: 2, maximumFractionDigits: 2});

/** Hours of a resource; of memory and storage, those of a GiB. */
const hours = (resource, text) => figures.format(
    Number(text) / HOUR / (/memory|storage|hugepages/.test(resource) ? GIB : 1));

const GROUPS = {queue: 'ClusterQueue', namespace: 'Namespace', owner: 'Job'};

function used(usage, choose) {
  const total = usage.rows?.reduce((sum, row) => sum + Number(row.cost), 0) ?? 0;
  return section('Usage of 30 days', usage.currency && `cost in ${usage.currency}`,
      usage.absent && h('p.note', {}, 'There is no ledger, or the visibility API is not reached: nothing was counted.'),
      usage.error && h('p.note', {}, usage.error),
      usage.rows && h('div.choices', {}, h('label.select', {}, h('span', {}, 'By'),
          h('select', {onchange: event => choose(event.target.value)},
              usage.groups.map(value => h('option', {value, selected: usage.by === value}, GROUPS[value] ?? value))))),
      usage.rows?.length === 0 && empty('Nothing was used', ''),
      usage.rows?.length > 0 && h('div.table-holder', {}, h('table.usage', {},
          h('thead', {}, h('tr', {}, [GROUPS[usage.by], 'Flavor', 'Resource', 'Reserved, hours', 'Lost, hours', 'Cost'].map(name =>
            h('th', {scope: 'col'}, name)))),
          h('tbody', {},
              usage.rows.map(row => h('tr', {key: [row.group, row.flavor, row.resource].join('/')},
                  h('td', {}, row.group || '–'), h('td', {}, row.flavor), h('td', {}, row.resource),
                  h('td', {}, hours(row.resource, row.reserved)), h('td', {}, hours(row.resource, row.lost)),
                  h('td', {}, figures.format(Number(row.cost))))),
              h('tr.total', {key: 'total'}, h('td', {colspan: '5'}, 'Total'), h('td', {}, figures.format(total)))))),
      (usage.more > 0 || usage.incomplete) && h('p.note', {}, 'There are more rows: kubectl sluice usage shows them.'));
}

export function budgetsPage({app}) {
  let data = {items: []};
  let usage = null;
  let by = 'queue';
  const token = app.session.ownToken;
  const bill = async signal => {
    usage = await get('cluster/usage', {by}, signal);
  };
  const {load, close} = byTimer(app, async signal => {
    if (!token) return;
    data = await get('cluster/budgets', {}, signal);
    await bill(signal);
  });
  const choose = async value => {
    by = value;
    try {
      await bill();
      app.paint();
    } catch (e) {
      app.failed(e);
    }
  };
  return {
    title: 'Budgets',
    load,
    close,
    render: () => token ? [
      h('h1', {}, 'Budgets'),
      data.error && h('p.notice.warn', {}, data.error),
      data.items.length
        ? data.items.map(each => card(each, usage?.currency))
        : !data.error && section('No budgets', null, empty('Nothing limits what is spent', 'A Budget says how much a team may spend in a period.')),
      usage && used(usage, choose),
    ] : section('Budgets', null, withoutToken(['kubectl sluice budget', 'kubectl sluice usage'])),
  };
}
