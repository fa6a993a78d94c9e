// What is read in the cluster when somebody asks for it, with his own token: events, pods and YAML of a Workload, and the
// nodes of a flavor. Nothing of it is fetched with a page.

import {h} from './dom.js';
import {get} from './api.js';
import {count, moment} from './format.js';
import {section, time} from './parts.js';

/** A command for a terminal, which a click copies. */
export const command = (text, before = '') => h('p.note.command', {}, before, h('code', {}, text), ' ',
    h('button.plain', {onclick: () => navigator.clipboard?.writeText(text), title: 'Copy the command'}, 'Copy'));

/** Times are what others wrote, and may be none. */
const when = text => (Number.isNaN(Date.parse(text)) ? '–' : time(text));

const nothing = text => h('p.note', {}, text);

const table = (heads, rows) => h('div.table-holder', {}, h('table', {},
    h('thead', {}, h('tr', {}, heads.map(name => h('th', {scope: 'col'}, name)))),
    h('tbody', {}, rows)));

const more = (number, what) => number > 0 && nothing(`and ${count(number)} more ${what}`);

function events({items = [], error}) {
  return [
    h('h3', {}, 'Events'),
    error && h('p.notice.warn', {}, error),
    items.length > 0 ? table(['Last seen', 'Of', 'Reason', 'Note'], items.map(each => h('tr', {},
        h('td', {}, when(each.at), each.count > 1 && h('small', {}, `${count(each.count)} times`)),
        h('td', {}, each.kind),
        h('td', {class: each.type === 'Warning' ? 'warned' : null}, each.reason),
        h('td.long', {}, each.note)))) : !error && nothing('None. Events are kept for an hour as a rule.'),
  ];
}

function pods({items = [], error, more: left, unseen}) {
  return [
    h('h3', {}, 'Pods'),
    error && h('p.notice.warn', {}, error),
    items.length > 0 ? table(['Pod', 'State', 'Ready', 'Restarts', 'Node', 'Age'], items.map(each => h('tr', {key: each.name},
        h('td', {}, each.name, each.podSet && h('small', {}, each.podSet)),
        h('td.long', {}, each.state, each.message && h('small', {}, each.message)),
        h('td', {}, `${each.ready}/${each.containers}`),
        h('td', {}, String(each.restarts)),
        h('td', {}, each.node || '–'),
        h('td', {}, when(each.created))))) : !error && nothing('None.'),
    more(left, 'pods'),
    unseen > 0 && nothing(`${count(unseen)} pods of the namespace were not looked at.`),
  ];
}

const text = ({yaml, error}) => [
  h('h3', {}, 'YAML'),
  error && h('p.notice.warn', {}, error),
  yaml && h('pre.yaml', {tabindex: '0', 'aria-label': 'YAML of the Workload'}, yaml),
];

/** What a click fetches, and what is shown of it until then. */
function asked(app, source, label, show, commands) {
  let data = null;
  let failure = '';
  let busy = false;
  const ask = async () => {
    busy = true;
    app.paint();
    try {
      data = await get(source);
      failure = '';
    } catch (e) {
      failure = e.message;
    }
    busy = false;
    app.paint();
  };
  return () => [
    app.session.ownToken
      ? h('p', {}, h('button.ask', {onclick: ask, disabled: busy}, data ? 'Read again' : label), ' ',
          h('span.note', {}, data ? `as of ${moment(data.at)}` : 'with your token and your rights'))
      : nothing('You are logged in without a token of your own. In a terminal:'),
    failure && h('p.notice.warn', {role: 'alert'}, failure),
    data && show(data),
    commands.map(each => command(each)),
  ];
}

/** Events, pods and YAML of a Workload. */
export function workloadInCluster(app, namespace, name, source) {
  const body = asked(app, source, 'Show events, pods and YAML',
      data => [events(data.events), pods(data.pods), text(data.object)], [
        `kubectl describe workload ${name} -n ${namespace}`,
        `kubectl get workload ${name} -n ${namespace} -o yaml`,
      ]);
  return () => section('In the cluster', null, body());
}

/** The nodes with the labels of a flavor. */
export function flavorNodes(app, source, labels) {
  const selector = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`).join(',');
  return asked(app, source, 'Show nodes', data => [
    data.error && h('p.notice.warn', {}, data.error),
    data.items && nothing(`${count(data.items.length + data.more)} nodes, ${
      count(data.items.filter(each => each.ready).length)} ready`),
    data.items?.map(each => h('div', {key: each.name}, each.name,
        !each.ready && h('small', {}, 'not ready'), each.cordoned && h('small', {}, 'cordoned'))),
    more(data.more, 'nodes'),
  ], [`kubectl get nodes${selector ? ` -l ${selector}` : ''}`]);
}
