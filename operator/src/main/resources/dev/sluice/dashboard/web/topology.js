// Nodes of flavors with a topology: domains within domains, what each has, and who holds it.

import {h} from './dom.js';
import {get, path} from './api.js';
import {amount, count} from './format.js';
import {empty, section, workloadLink} from './parts.js';

const href = (flavor, values) => `#/topology/${path(flavor, ...values)}`;

/** What a bar says, in words. */
function spoken({resource, allocatable, others, workloads, free}) {
  const of = value => amount(resource, value);
  return `${resource}: ${of(free)} free of ${of(allocatable)}, ${of(workloads)} used by Workloads`
    + (others > 0 ? `, ${of(others)} by other pods` : '');
}

const part = (value, whole) => `${Math.min(100, (100 * Math.max(0, value)) / (whole || 1)).toFixed(2)}%`;

/** Used by Workloads, used by other pods, and free of what there is. */
const line = usage => h('div.quota', {},
    h('span.pair', {title: usage.resource}, h('b', {}, usage.resource.split('/').at(-1))),
    h('div.meter', {
      role: 'img', 'aria-label': spoken(usage), title: spoken(usage), vars: {nominal: '100%'},
    },
    h('span.own', {vars: {size: part(usage.workloads, usage.allocatable)}}),
    usage.others > 0 && h('span.borrowed', {vars: {
      from: part(usage.workloads, usage.allocatable), size: part(usage.others, usage.allocatable),
    }})),
    h('span.figures', {},
        h('b', {}, amount(usage.resource, usage.workloads + usage.others)),
        h('span.of', {}, ` / ${amount(usage.resource, usage.allocatable)}`)),
    h('span.loans', {}, usage.others > 0
      && h('span.loan.borrowed', {}, `${amount(usage.resource, usage.others)} others`)));

const nodes = number => `${count(number)} ${number === 1 ? 'node' : 'nodes'}`;

/** What of a resource is in one domain, at most: so much a Workload finds in one piece. */
function largest(data) {
  const last = data.levels[data.path.length]?.split('/').at(-1);
  return data.domains.length < 2 ? [] : data.resources.filter(each => each.free > 0).map(each => {
    const most = Math.max(...data.domains.map(
        domain => domain.resources.find(other => other.resource === each.resource)?.free ?? 0));
    return h('li', {}, h('b', {}, each.resource.split('/').at(-1)),
        ` at most ${amount(each.resource, most)} of ${amount(each.resource, each.free)} free in one ${last}`);
  });
}

function holders(data) {
  const rest = [
    data.moreHolders > 0 && `${count(data.moreHolders)} more Workloads`,
    data.hiddenHolders > 0
      && `${count(data.hiddenHolders)} Workloads that you may not see, ${count(data.hiddenPods)} pods`,
  ].filter(text => text);
  return section('Held by', count(data.holders.length + data.moreHolders + data.hiddenHolders),
      data.holders.length || rest.length
        ? h('ul.holders', {},
            data.holders.map(each => h('li', {key: `${each.namespace}/${each.name}`},
                workloadLink(each), ` ${count(each.pods)} `,
                each.pods === 1 ? 'pod' : 'pods')),
            rest.map(text => h('li', {}, text)))
        : empty('Nobody', 'No Workload has pods here.'));
}

/** Nodes come and go without an event of the server. */
const PERIOD = 5000;

export function topologyPage({app, parts}) {
  let flavors = [];
  let data = null;
  let timer = 0;
  const here = location.hash;
  const load = async signal => {
    flavors = (await get('topologies', {}, signal)).items;
    const flavor = parts[0] ?? flavors[0]?.flavor;
    data = flavor ? await get(`topologies/${path(flavor, ...parts.slice(1))}`, {}, signal) : null;
    timer ||= setInterval(() => {
      if (location.hash !== here) clearInterval(timer);
      else if (!document.hidden) load().then(app.paint, app.failed);
    }, PERIOD);
  };
  const choices = () => h('div.chips', {}, flavors.map(each => h('a', {
    href: href(each.flavor, []),
    'aria-current': each.flavor === data.flavor ? 'page' : null,
  }, each.flavor)));
  const crumbs = () => h('div.crumbs', {},
      data.path.map((value, at) => [
        h('a', {href: href(data.flavor, data.path.slice(0, at))}, at ? data.path[at - 1] : data.flavor), ' / ',
      ]),
      data.path.length ? data.path.at(-1) : `topology ${data.topology}`);
  const domain = each => h('div.node.is-queue', {key: each.name, role: 'listitem'},
      h('div.node-head', {},
          h('span.fold', {}),
          h('a', {href: href(data.flavor, [...data.path, each.name])}, each.name),
          data.path.length < data.levels.length - 1 && h('span.kind', {}, nodes(each.nodes))),
      h('div.node-counts', {},
          h('span', {class: each.holders ? 'some' : 'none'}, h('b', {}, count(each.holders)),
              each.holders === 1 ? ' Workload' : ' Workloads')),
      h('div.node-quotas', {}, each.resources.map(line)));
  return {
    title: 'Topology',
    load,
    refresh: load,
    render() {
      if (!data) {
        return section('Topology', null, empty('No flavor has a topology',
            'A ResourceFlavor with topologyName shows its nodes here.'));
      }
      const level = data.levels[data.path.length]?.split('/').at(-1);
      return [
        flavors.length > 1 && choices(),
        h('section.card', {},
            h('div.page-head', {}, crumbs(),
                h('h1', {}, data.path.at(-1) ?? `Flavor ${data.flavor}`,
                    h('span.kind', {}, nodes(data.nodes)))),
            h('div.legend', {'aria-hidden': 'true'}, h('span.own', {}, 'Workloads'),
                h('span.borrowed', {}, 'other pods'), h('span.idle', {}, 'free'),
                h('b', {}, 'used / in all')),
            h('div.node-quotas', {}, data.resources.map(line)),
            h('ul.largest.note', {}, largest(data))),
        data.domains.length > 0 && h('section.card.tree-card', {},
            h('div.card-head', {}, h('h2', {}, level),
                h('span.note', {}, count(data.domains.length + data.moreDomains))),
            h('div.tree', {role: 'list', 'aria-label': `Domains of level ${level}`},
                data.domains.map(domain)),
            data.moreDomains > 0
              && h('p.note', {}, `and ${count(data.moreDomains)} more, which aren't shown`)),
        holders(data),
      ];
    },
  };
}
