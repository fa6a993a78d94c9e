// When capacity is reserved, flavors or nodes are under maintenance, and quota is at another factor: on one time axis, and as a list.

import {h} from './dom.js';
import {get} from './api.js';
import {byTimer, withoutToken} from './budgets.js';
import {count, duration, moment, serverTime} from './format.js';
import {empty, queueLink, section} from './parts.js';

const WIDTH = 1000;

/** Days that the axis shows at least and at most. */
const LEAST = 86400000;
const MOST = 28 * LEAST;

const KINDS = {CapacityReservation: 'reservation', MaintenanceWindow: 'maintenance', QuotaSchedule: 'quota'};

const keyOf = item => `${item.kind}/${item.name}/${item.keeps}`;

const known = each => !Number.isNaN(Date.parse(each.start)) && !Number.isNaN(Date.parse(each.end));

const title = item => [
  item.kind === 'QuotaSchedule' ? `ClusterQueue ${item.name}: ${item.keeps}` : `${item.kind} ${item.name} keeps ${item.keeps}`,
  ...item.occurrences.filter(known).slice(0, 4).map(each => `${moment(each.start)} to ${moment(each.end)}`),
].join('\n');

function axis(items) {
  const now = serverTime();
  const last = Math.max(...items.flatMap(item => item.occurrences.filter(known).map(each => Date.parse(each.end))));
  const end = now + Math.max(LEAST, Math.min(MOST, last - now));
  const at = time => Math.max(0, Math.min(WIDTH, Math.round((WIDTH * (time - now)) / (end - now))));
  return h('div.plan', {},
      items.map(item => h('div.plan-row', {key: keyOf(item), title: title(item)},
          h('span.plan-name', {}, item.name),
          h('svg', {viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: 'none', role: 'img', 'aria-label': title(item)},
              item.occurrences.filter(known).filter(each => Date.parse(each.start) < end).map(each => {
                const from = at(Date.parse(each.start));
                return h(`rect.kept-${KINDS[item.kind]}`, {
                  x: from, y: 2, width: Math.max(4, at(Date.parse(each.end)) - from), height: 12,
                });
              })))),
      h('div.plan-row.plan-axis', {}, h('span', {}), h('div.plan-ticks', {}, [0, 0.5, 1].map(part =>
        h('span', {title: moment(new Date(now + part * (end - now)).toISOString())},
            part ? `in ${duration((part * (end - now)) / 1000)}` : 'now')))));
}

const HEADS = ['When', 'Name', 'Keeps', 'For'];

const short = new Intl.DateTimeFormat(undefined, {weekday: 'short', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit'});

const at = text => h('time', {datetime: text, title: moment(text)}, short.format(new Date(text)));

const forWhom = item => item.kind === 'MaintenanceWindow' ? 'nobody' : item.kind === 'QuotaSchedule' ? 'everybody' : item.users || '–';

function rows(items) {
  const now = serverTime();
  return items
    .flatMap(item => item.occurrences.filter(known).map(each => ({...each, item})))
    .sort((a, b) => Date.parse(a.start) - Date.parse(b.start))
    .map(({start, end, item}) => h('tr', {key: `${keyOf(item)}/${start}`},
        h('td.span', {}, at(start), h('small', {}, 'to ', at(end)),
            Date.parse(start) <= now && Date.parse(end) > now
              && (item.state === 'Invalid' ? h('small', {}, 'keeps nothing') : h('small.now', {}, 'now'))),
        h('td', {}, item.name, h('small', {}, KINDS[item.kind])),
        h('td.long', {}, item.queue && [queueLink(item.queue), ': '], item.keeps, item.lend && h('small', {}, 'lent while unused')),
        h('td.long', {}, forWhom(item))));
}

export function calendarPage({app}) {
  let data = {items: []};
  const token = app.session.ownToken;
  const {load, close} = byTimer(app, async signal => {
    if (token) data = await get('cluster/calendar', {}, signal);
  });
  return {
    title: 'Calendar',
    load,
    close,
    render() {
      if (!token) return section('Calendar', null, withoutToken(['kubectl sluice calendar']));
      const planned = data.items.filter(item => item.occurrences.some(known));
      return section('Calendar', count(planned.length),
          data.error && h('p.notice.warn', {}, data.error),
          data.items.filter(item => item.fault).map(item =>
            h('p.notice.warn', {key: `fault-${item.name}`}, h('strong', {}, item.name), `: ${item.fault}`)),
          planned.length > 0 && [
            h('div.legend', {'aria-hidden': 'true'}, h('span.reservation', {}, 'reserved'), h('span.maintenance', {}, 'maintenance'),
                h('span.quota-factor', {}, 'other quota')),
            axis(planned),
            h('div.table-holder', {}, h('table', {},
                h('thead', {}, h('tr', {}, HEADS.map(name => h('th', {scope: 'col'}, name)))),
                h('tbody', {}, rows(planned)))),
          ],
          !planned.length && !data.error && empty('Nothing is planned', 'CapacityReservations, MaintenanceWindows and factors of quota appear here.'));
    },
  };
}
