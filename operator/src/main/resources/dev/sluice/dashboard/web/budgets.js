// Budgets: what is spent, reserved and left, until when, and whom they hold.

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

function limitLine(limit) {
  const unit = limit.resource === MONEY ? 'money' : `${limit.resource} hours`;
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

const card = budget => h('section.card', {key: budget.name},
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
    h('div.quotas', {}, budget.limits.map(limit => limitLine(limit))),
    budget.holds > 0 && [
      h('h3', {}, `Held: ${count(budget.holds)}`),
      h('ul.held', {}, budget.held.map(each => h('li', {key: `${each.namespace}/${each.name}`},
          workloadLink(each), h('small', {}, each.message)))),
      budget.holds > budget.held.length && h('p.note', {}, `and ${count(budget.holds - budget.held.length)} more`),
    ]);

export function budgetsPage({app}) {
  let data = {items: []};
  const token = app.session.ownToken;
  const {load, close} = byTimer(app, async signal => {
    if (token) data = await get('cluster/budgets', {}, signal);
  });
  return {
    title: 'Budgets',
    load,
    close,
    render: () => token ? [
      h('h1', {}, 'Budgets'),
      data.error && h('p.notice.warn', {}, data.error),
      data.items.length
        ? data.items.map(each => card(each))
        : !data.error && section('No budgets', null, empty('Nothing limits what is spent', 'A Budget says how much a team may spend in a period.')),
    ] : section('Budgets', null, withoutToken(['kubectl sluice budget'])),
  };
}
