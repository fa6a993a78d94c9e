// Usage: what was used by whom, day by day, with its cost and what was saved.

import {h} from './dom.js';
import {get} from './api.js';
import {byTimer, withoutToken} from './budgets.js';
import {empty, section} from './parts.js';

const WIDTH = 620;
const HEIGHT = 60;
const HOUR = 3600;
const GIB = 1024 ** 3;
const COST = 'cost';
const figures = new Intl.NumberFormat('en', {minimumFractionDigits: 2, maximumFractionDigits: 2});
const dates = new Intl.DateTimeFormat(undefined, {day: 'numeric', month: 'short', timeZone: 'UTC'});

/** Hours of a resource; of memory and storage, those of a GiB. */
const hours = (resource, seconds) => Number(seconds) / HOUR / (/memory|storage|hugepages/.test(resource) ? GIB : 1);

const GROUPS = {queue: 'ClusterQueue', namespace: 'Namespace', user: 'User', owner: 'Job'};
const groupName = by => GROUPS[by] ?? by.replace('label:', '');

/** A bar for each day. */
function bars(values, top) {
  const width = WIDTH / values.length;
  return values.map((value, day) => {
    if (!value) return '';
    const y = (HEIGHT - (HEIGHT * value) / top).toFixed(1);
    return `M${(day * width + 1).toFixed(1)},${HEIGHT}V${y}H${((day + 1) * width - 1).toFixed(1)}V${HEIGHT}Z`;
  }).join('');
}

/** One line for each group, all on one scale. */
function plots(usage, chosen, unit) {
  const of = value => (chosen.of === COST ? value : hours(chosen.of, value));
  const top = Math.max(...chosen.groups.flatMap(each => each.values)) * 1.05 || 1;
  const date = day => dates.format(Date.parse(usage.begin) + day * 24 * HOUR * 1000);
  return h('div.pasts', {},
      chosen.groups.map(({group, values}) => {
        const sum = values.reduce((a, b) => a + b, 0);
        const most = Math.max(...values);
        const words = `${figures.format(of(sum))} ${unit}, most on ${date(values.indexOf(most))}: ${figures.format(of(most))}`;
        return h('div.past', {key: group, title: words},
            h('span.pair', {}, h('b', {}, group || '–')),
            h('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${group || 'none'}: ${words}`},
                h('path.past-used', {d: bars(values, top)})),
            h('span.figures', {}, h('b', {}, figures.format(of(sum))), h('small', {}, `at most ${figures.format(of(most))} a day`)));
      }),
      h('div.past.past-axis', {key: 'axis'}, h('span', {}), h('div.plan-ticks', {},
          [0, (usage.days - 1) / 2, usage.days - 1].map(day => h('span', {}, date(day)))), h('span', {})),
      chosen.others > 0 && h('p.note', {key: 'others'}, `and ${chosen.others} more that used less`));
}

const choice = (label, value, options, choose) => h('label.select', {}, h('span', {}, label),
    h('select', {onchange: event => choose(event.target.value)},
        options.map(([key, text]) => h('option', {value: key, selected: value === key}, text))));

const NUMBERS = ['Reserved, hours', 'Lost, hours', 'Cost', 'Saved'];

function table(usage) {
  const total = field => figures.format(usage.rows.reduce((sum, row) => sum + Number(row[field]), 0));
  return h('div.table-holder', {}, h('table.usage', {},
      h('thead', {}, h('tr', {}, [groupName(usage.by), 'Flavor', 'Resource', ...NUMBERS].map(name => h('th', {scope: 'col'}, name)))),
      h('tbody', {},
          usage.rows.map(row => h('tr', {key: [row.group, row.flavor, row.resource].join('/')},
              h('td', {}, row.group || '–'), h('td', {}, row.flavor), h('td', {}, row.resource),
              h('td', {}, figures.format(hours(row.resource, row.reserved))), h('td', {}, figures.format(hours(row.resource, row.lost))),
              h('td', {}, figures.format(Number(row.cost))), h('td', {}, figures.format(Number(row.saved))))),
          h('tr.total', {key: 'total'}, h('td', {colspan: '5'}, 'Total'), h('td', {}, total(COST)), h('td', {}, total('saved'))))));
}

export function usagePage({app}) {
  let usage = {};
  let by = 'queue';
  let shown = null;
  const token = app.session.ownToken;
  const fetch = async signal => {
    if (token) usage = await get('cluster/usage', {by}, signal);
  };
  const {load, close} = byTimer(app, fetch);
  const choose = async value => {
    by = value;
    try {
      await fetch();
      app.paint();
    } catch (e) {
      app.failed(e);
    }
  };
  const used = () => {
    const kinds = usage.plots ?? [];
    const chosen = kinds.find(each => each.of === shown) ?? kinds.find(each => each.of === COST) ?? kinds[0];
    const named = each => (each.of === COST ? `cost${usage.currency ? `, ${usage.currency}` : ''}` : `${each.of}, hours`);
    return [
      section('Day by day', usage.currency && `cost in ${usage.currency}`,
          h('div.choices', {},
              choice('By', usage.by, usage.groups.map(each => [each, groupName(each)]), choose),
              chosen && choice('Show', chosen.of, kinds.map(each => [each.of, named(each)]), value => {
                shown = value;
                app.paint();
              })),
          chosen ? plots(usage, chosen, chosen.of === COST ? usage.currency : 'hours') : empty('Nothing was used', '')),
      usage.rows.length > 0 && section('30 days and today', null, table(usage)),
      (usage.more > 0 || usage.incomplete) && h('p.note', {}, 'There are more rows: kubectl sluice usage shows them.'),
    ];
  };
  return {
    title: 'Usage',
    load,
    close,
    render: () => token ? [
      h('h1', {}, 'Usage'),
      usage.absent && section('No usage', null, h('p.note', {}, 'There is no ledger, or the visibility API is not reached: nothing was counted.')),
      usage.error && h('p.notice.warn', {}, usage.error),
      usage.rows && used(),
    ] : section('Usage', null, withoutToken(['kubectl sluice usage'])),
  };
}
