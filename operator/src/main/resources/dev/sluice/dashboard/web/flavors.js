// Flavors: which nodes they mean, and who uses them.

import {h} from './dom.js';
import {get, path} from './api.js';
import {flavorNodes} from './cluster.js';
import {count} from './format.js';
import {empty, queueLink, section} from './parts.js';

const taint = each => `${each.key}${each.value ? `=${each.value}` : ''}:${each.effect}`;

const toleration = each =>
  `${each.key ?? 'every taint'}${each.value ? `=${each.value}` : ''}${each.effect ? `:${each.effect}` : ''}`;

const lines = list => list.length ? list.map(text => h('div', {}, text)) : '–';

const HEADS = ['Flavor', 'Labels of its nodes', 'Taints', 'Tolerations', 'Topology', 'ClusterQueues', 'Nodes'];

export function flavorsPage({app}) {
  let data = null;
  const nodes = new Map();
  const nodesOf = flavor => {
    const key = JSON.stringify([flavor.name, flavor.nodeLabels]);
    if (!nodes.has(key)) {
      nodes.set(key, flavorNodes(app, path('cluster', 'flavors', flavor.name, 'nodes'), flavor.nodeLabels));
    }
    return nodes.get(key)();
  };
  const load = async signal => {
    data = await get('flavors', {}, signal);
  };
  const row = flavor => h('tr', {key: flavor.name},
      h('td', {}, flavor.name),
      h('td', {}, lines(Object.entries(flavor.nodeLabels ?? {}).map(([key, value]) => `${key}=${value}`))),
      h('td', {}, lines((flavor.nodeTaints ?? []).map(taint))),
      h('td', {}, lines((flavor.tolerations ?? []).map(toleration))),
      h('td', {}, !flavor.topologyName ? '–'
        : app.session.sees.topologies ? h('a', {href: `#/topology/${path(flavor.name)}`}, flavor.topologyName)
          : flavor.topologyName),
      h('td', {}, flavor.clusterQueues?.length
        ? flavor.clusterQueues.map(name => h('div', {}, queueLink(name))) : '–'),
      h('td', {}, nodesOf(flavor)));
  return {
    title: 'Flavors',
    load,
    refresh: load,
    render: () => section('Flavors', count(data.items.length),
        data.items.length ? h('div.table-holder', {}, h('table', {},
            h('thead', {}, h('tr', {}, HEADS.map(name => h('th', {scope: 'col'}, name)))),
            h('tbody', {}, data.items.map(row)))) : empty('No ResourceFlavor', '')),
  };
}
