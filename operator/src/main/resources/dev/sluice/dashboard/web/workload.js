// One Workload: what it waits for, what happened to it, and what it was given.

import {h} from './dom.js';
import {get, path} from './api.js';
import {amount, count, moment} from './format.js';
import {command, workloadInCluster} from './cluster.js';
import {basis} from './starts.js';
import {
  empty, localQueueLink, queueLink, section, stateBadge, time, workloadLink,
} from './parts.js';

const KEEPS = {
  pending: 'What it waits for',
  stopping: 'Why it stops',
  reserved: 'What it waits for',
  inactive: 'Why it is inactive',
};

/** Parts of a message, which the scheduler joins with bars. */
const lines = message => message.split(' | ').map(line => h('li', {}, line));

function waits(data) {
  const waiting = data.waiting;
  const message = waiting?.message ?? data.message ?? '';
  const open = (data.checks ?? []).filter(check => check.state !== 'Ready');
  return section(KEEPS[data.state], null,
      h('p.reason', {}, h('strong', {}, waiting?.reason ?? data.reason ?? ''),
          waiting?.inadmissible && ' – it is tried again when quota that it lacks is released or changed'),
      message && h('ul.message', {}, lines(message)),
      waiting && waiting.positionInClusterQueue >= 0 && h('dl.facts', {},
          fact('Position in ClusterQueue', String(waiting.positionInClusterQueue + 1)),
          fact('Position in LocalQueue', String(waiting.positionInLocalQueue + 1)),
          fact('Priority', String(waiting.priority))),
      waiting?.plan && [
        h('p.start', {}, waiting.plan.text),
        h('dl.facts', {},
            waiting.plan.plannedStart && fact('Planned start', moment(waiting.plan.plannedStart)),
            waiting.plan.promised && fact('Promised', moment(waiting.plan.promised)),
            waiting.plan.lateBy && fact('Later by', waiting.plan.lateBy.join(', ')),
            waiting.plan.startsBeforeUntil && fact('May start before it until', moment(waiting.plan.startsBeforeUntil))),
        waiting.plan.behind && h('p', {}, 'Comes first: ', workloadLink(waiting.plan.behind)),
      ],
      waiting?.start && [
        h('p.start', {}, waiting.start.text),
        waiting.start.expected && h('dl.facts', {},
            fact('Earliest start', moment(waiting.start.earliest)),
            fact('Expected start', moment(waiting.start.expected)),
            fact('Latest start', waiting.start.latest ? moment(waiting.start.latest) : 'nobody can tell'),
            fact('Basis', basis(waiting.start))),
      ],
      waiting?.turn && h('p', {},
          `LocalQueue ${waiting.turn.first} comes first: it used ${waiting.turn.usedByFirst}, this one ${waiting.turn.used}.`),
      waiting?.holders.length > 0 && [
        h('h3', {}, 'Who has the missing quota'),
        h('ul.holders', {}, waiting.holders.map(holder => h('li', {},
            workloadLink(holder),
            h('span', {}, ` has ${amount(holder.resource, holder.amount)} ${holder.resource} of ${holder.flavor} in ${holder.clusterQueue}`)))),
      ],
      waiting?.hiddenHolders > 0 && h('p.note', {},
          `${count(waiting.hiddenHolders)} of other namespaces have some of it, too.`),
      open.length > 0 && [
        h('h3', {}, 'Admission checks'),
        h('ul.holders', {}, open.map(check => h('li', {}, h('b', {}, check.name), ` ${check.state}`,
            check.message && `: ${check.message}`))),
      ],
      data.closedGates && h('p', {}, `Closed gates: ${data.closedGates.join(', ')}`),
      data.requeue?.at && h('p.note', {}, `It queues again at ${moment(data.requeue.at)}.`));
}

const fact = (name, ...value) => h('div', {}, h('dt', {}, name), h('dd', {}, ...value));

function podSets(list) {
  return h('div.table-holder', {}, h('table', {},
      h('thead', {}, h('tr', {}, ['Pod set', 'Pods', 'Each asks for', 'Flavors', 'Placed on'].map(
          name => h('th', {scope: 'col'}, name)))),
      h('tbody', {}, list.map(each => h('tr', {key: each.name},
          h('td', {}, each.name),
          h('td', {}, each.assigned && each.assigned.count !== each.count
            ? `${each.assigned.count} of ${each.count}` : String(each.count),
          each.minCount && h('small', {}, `at least ${each.minCount}`)),
          h('td', {}, Object.entries(each.perPod).map(([resource, value]) =>
            h('div', {}, `${amount(resource, value)} ${resource}`))),
          h('td', {}, each.assigned
            ? Object.entries(each.assigned.flavors).map(([resource, flavor]) =>
              h('div', {}, flavor, h('small', {}, resource)))
            : '–'),
          h('td', {}, each.assigned?.topology
            ? each.assigned.topology.domains?.slice(0, 50).map(domain =>
              h('div', {}, domain.values.join(' / '), h('small', {}, `${domain.pods} pods`)))
            : '–'))))));
}

export function workloadPage({app, parts: [namespace, name]}) {
  let data = null;
  let gone = '';
  const inCluster = workloadInCluster(app, namespace, name, path('cluster', 'workloads', namespace, name));
  const load = async signal => {
    try {
      data = await get(path('workloads', namespace, name), {}, signal);
      gone = '';
    } catch (e) {
      if (e.status !== 404 && e.status !== 403) throw e;
      gone = e.message;
    }
  };
  return {
    title: name,
    load,
    refresh: load,
    render() {
      if (gone && !data) return empty('Not found', gone);
      return [
        gone && h('p.notice.warn', {}, 'It does not exist any more. This is what was last known.'),
        h('div.page-head', {},
            h('p.crumbs', {}, h('a', {href: '#/workloads'}, 'Workloads'), ' / ',
                h('a', {href: `#/workloads?namespace=${encodeURIComponent(namespace)}`}, namespace)),
            h('h1', {}, data.owner ? data.owner.name : data.name, stateBadge(data)),
            h('p.note', {}, data.owner ? `${data.owner.kind} · Workload ${data.name}` : 'Workload')),
        h('dl.facts.card', {},
            fact('LocalQueue', data.queue ? localQueueLink(namespace, data.queue) : '–'),
            fact('ClusterQueue', !data.clusterQueue ? '–'
              : app.session.sees.clusterQueues ? queueLink(data.clusterQueue) : data.clusterQueue),
            fact('Priority', String(data.priority), data.priorityClass && h('small', {}, data.priorityClass)),
            fact('Pods', count(data.pods)),
            fact('Age', time(data.created)),
            data.workerCluster && fact('Worker cluster', data.workerCluster),
            data.nominated && fact('Offered to', data.nominated.join(', '))),
        KEEPS[data.state] && waits(data),
        command(`kubectl sluice explain workload ${data.name} -n ${namespace}`, 'The same in a terminal: '),
        section('Time line', 'the last change of each condition',
            h('ol.timeline', {}, data.timeline.map(each => h('li', {key: each.what},
                time(each.at),
                h('div', {}, h('b', {}, each.what), each.reason && h('span.kind', {}, each.reason),
                    each.message && h('p', {}, each.message)))))),
        section('Pod sets', null, podSets(data.podSets)),
        data.evictions && section('Evictions', null, h('ul', {}, data.evictions.map(each =>
          h('li', {}, `${each.count} × ${each.reason}`, each.cause && ` (${each.cause})`)))),
        section('Conditions', null, h('div.table-holder', {}, h('table', {},
            h('thead', {}, h('tr', {}, ['Type', 'Status', 'Reason', 'Message', 'Since'].map(
                each => h('th', {scope: 'col'}, each)))),
            h('tbody', {}, data.conditions.map(each => h('tr', {key: each.type},
                h('td', {}, each.type), h('td', {}, each.status), h('td', {}, each.reason),
                h('td.long', {}, each.message), h('td', {}, time(each.at)))))))),
        inCluster(),
      ];
    },
  };
}
