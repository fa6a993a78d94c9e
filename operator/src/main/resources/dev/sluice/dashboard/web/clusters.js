// Worker clusters.

import {h} from './dom.js';
import {get} from './api.js';
import {empty, section} from './parts.js';

export function clustersPage() {
  let items = [];
  const load = async signal => {
    items = (await get('workerclusters', {}, signal)).items;
  };
  return {
    title: 'Worker clusters',
    load,
    refresh: load,
    render: () => section('Worker clusters', null, items.length
      ? h('ul.clusters', {}, items.map(cluster => h('li', {key: cluster.name},
          h('b', {}, cluster.name),
          h(`span.badge.${cluster.connected ? 'admitted' : 'inactive'}`, {},
              cluster.connected ? 'Connected' : 'Not connected'),
          h('p', {}, [cluster.reason, cluster.message].filter(text => text).join(': ')))))
      : empty('No worker clusters', 'Workloads run in this cluster only.')),
  };
}
