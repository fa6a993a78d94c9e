// The frame around the pages: who is logged in, which page is shown, and when it is fetched again.

import {ApiError, follow, get, token} from './api.js';
import {fill, h} from './dom.js';
import {setNow} from './format.js';
import {budgetsPage} from './budgets.js';
import {usagePage} from './usage.js';
import {calendarPage} from './calendar.js';
import {clustersPage} from './clusters.js';
import {flavorsPage} from './flavors.js';
import {overviewPage} from './overview.js';
import {localQueuePage, queuePage, queuesPage} from './queues.js';
import {topologyPage} from './topology.js';
import {workloadPage} from './workload.js';
import {workloadsPage} from './workloads.js';

const PAGES = {
  '': overviewPage,
  queues: queuesPage,
  queue: queuePage,
  localqueue: localQueuePage,
  workloads: workloadsPage,
  workload: workloadPage,
  flavors: flavorsPage,
  topology: topologyPage,
  budgets: budgetsPage,
  usage: usagePage,
  calendar: calendarPage,
  clusters: clustersPage,
};

const TABS = [
  ['', 'Cohorts', 'c'],
  ['queues', 'Queues', 'q'],
  ['workloads', 'Workloads', 'w'],
  ['flavors', 'Flavors', 'f'],
  ['topology', 'Topology', 'o'],
  ['budgets', 'Budgets', 'b'],
  ['usage', 'Usage', 'u'],
  ['calendar', 'Calendar', 'l'],
  ['clusters', 'Workers', 'k'],
];

const main = document.getElementById('main');
const header = document.getElementById('bar');
const announce = document.getElementById('announce');

const app = {
  session: null,
  live: false,
  error: '',
  page: null,
  help: false,
  paint,
  failed,
};

// Theme: that of the system until somebody chooses.

const theme = {
  get: () => localStorage.getItem('sluice.theme') ?? '',
  set(value) {
    if (value) localStorage.setItem('sluice.theme', value);
    else localStorage.removeItem('sluice.theme');
    theme.show();
    paint();
  },
  show() {
    if (theme.get()) document.documentElement.dataset.theme = theme.get();
    else delete document.documentElement.dataset.theme;
  },
  dark: () => (theme.get() || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark',
  toggle: () => theme.set(theme.dark() ? 'light' : 'dark'),
};
theme.show();

// Where we are: #/page/part/part?name=value

function place() {
  const [where, search = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name = '', ...parts] = where.split('/').map(part => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return {name, parts, query: Object.fromEntries(new URLSearchParams(search))};
}

let opening = null;

async function open() {
  opening?.abort();
  const control = new AbortController();
  opening = control;
  const {name, parts, query} = place();
  const page = (PAGES[name] ?? overviewPage)({app, parts, query});
  page.name = name;
  try {
    await page.load(control.signal);
  } catch (e) {
    if (e.name === 'AbortError') return;
    failed(e);
    if (!app.session) return;
  }
  if (control.signal.aborted) return;
  app.page?.close?.();
  app.page = page;
  document.title = `${page.title} · Sluice`;
  announce.textContent = page.title;
  scrollTo(0, 0);
  paint();
  header.querySelector('.tabs [aria-current]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
}

function paint() {
  fill(header, app.session ? bar() : []);
  header.hidden = !app.session;
  if (!app.session) {
    fill(main, login());
    return;
  }
  if (!app.page) {
    fill(main, app.error && h('p.notice.warn', {role: 'alert'}, app.error));
  } else {
    let content;
    try {
      content = app.page.render();
    } catch (e) {
      content = h('p.notice.warn', {}, app.error || String(e));
    }
    fill(main,
        app.error && h('p.notice.warn', {role: 'alert'}, app.error),
        !app.session.deciding && h('p.notice', {}, 'This replica does not decide; another one does. What it shows is as current, but the reasons are those written to the Workloads.'),
        content, app.help && help());
    app.page.mounted?.(main.querySelector('[data-keep]'));
  }
}

function failed(error) {
  if (error instanceof ApiError && error.status === 401) {
    logOut('Your login is not valid any more.');
    return;
  }
  app.error = error.message;
  paint();
}

// Header

function bar() {
  const here = app.page?.name ?? '';
  const home = {queue: 'queues', localqueue: 'queues', workload: 'workloads'}[here] ?? here;
  return [
    h('a.brand', {href: '#/', 'aria-label': 'Sluice'}, h('span.logo', {}), h('span', {}, 'Sluice')),
    h('nav.tabs', {'aria-label': 'Pages'}, TABS
      .filter(([name]) => name !== 'clusters' || app.session.sees.workerClusters)
      .filter(([name]) => name !== 'flavors' || app.session.sees.flavors)
      .filter(([name]) => !['budgets', 'usage'].includes(name) || app.session.sees.budgets)
      .filter(([name]) => name !== 'calendar' || app.session.sees.calendar)
      .filter(([name]) => name !== 'topology' || app.session.sees.topologies)
      .map(([name, label, key]) => h('a', {
        href: `#/${name}`,
        'aria-current': home === name ? 'page' : null,
        'aria-keyshortcuts': `g ${key}`,
      }, label))),
    h('form.search', {role: 'search', onsubmit: search},
        h('input', {
          id: 'search',
          type: 'search',
          placeholder: 'Search',
          'aria-label': 'Search Workloads and queues',
          'aria-keyshortcuts': '/',
          autocomplete: 'off',
          maxlength: '200',
        }),
        h('kbd', {'aria-hidden': 'true'}, '/')),
    h('span.live', {class: app.live ? 'on' : 'off', role: 'status'}, app.live ? 'live' : 'connecting'),
    h('button.plain', {
      onclick: theme.toggle,
      'aria-label': theme.dark() ? 'Use light colors' : 'Use dark colors',
      title: 'Colors (t)',
    }, theme.dark() ? '☀' : '☾'),
    h('details.user', {},
        h('summary', {'aria-label': 'User'}, initials(app.session.user)),
        h('div', {},
            h('p', {}, 'Logged in as ', h('b', {}, app.session.user)),
            h('button', {onclick: () => {
              app.help = !app.help;
              paint();
            }}, 'Keyboard'),
            token.get() && h('button', {onclick: () => logOut('')}, 'Log out'))),
  ];
}

const initials = user => user.split(':').at(-1).slice(0, 2).toUpperCase();

function search(event) {
  event.preventDefault();
  const q = document.getElementById('search').value.trim();
  location.hash = q ? `#/workloads?${new URLSearchParams({q})}` : '#/workloads';
}

const KEYS = [
  ['/', 'search'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave the search, go back'],
  ['g c', 'cohorts'], ['g q', 'queues'], ['g w', 'Workloads'], ['g f', 'flavors'], ['g o', 'topology'],
  ['g b', 'budgets'], ['g u', 'usage'], ['g l', 'calendar'], ['g k', 'worker clusters'],
  ['t', 'light or dark'],
  ['?', 'these keys'],
];

const help = () => h('div.help', {role: 'dialog', 'aria-label': 'Keyboard'},
    h('h2', {}, 'Keyboard'),
    h('dl', {}, KEYS.map(([key, what]) => [h('dt', {}, key.split(' ').map(each => h('kbd', {}, each))), h('dd', {}, what)])));

let prefix = '';
addEventListener('keydown', event => {
  if (!app.session || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.('input, select, textarea');
  if (event.key === 'Escape') {
    if (app.help) {
      app.help = false;
      paint();
    } else if (typing) typing.blur();
    else if (place().name) history.back();
    return;
  }
  if (typing) return;
  const tab = prefix === 'g' && TABS.find(([, , key]) => key === event.key);
  prefix = event.key === 'g' ? 'g' : '';
  if (tab) location.hash = `#/${tab[0]}`;
  else if (event.key === '/') document.getElementById('search').focus();
  else if (event.key === 'j') app.page?.move?.(1);
  else if (event.key === 'k') app.page?.move?.(-1);
  else if (event.key === 't') theme.toggle();
  else if (event.key === '?') {
    app.help = !app.help;
    paint();
  } else return;
  event.preventDefault();
});

// Login

let complaint = '';

const login = () => h('form.login', {onsubmit: logIn},
    h('span.logo', {}),
    h('h1', {}, 'Sluice'),
    h('p', {}, 'Log in with a token of this cluster. You see what your roles let you list, and nothing else.'),
    h('label', {for: 'token'}, 'Bearer token'),
    h('input', {
      id: 'token', type: 'password', autocomplete: 'off', required: true, spellcheck: 'false',
      'aria-describedby': complaint ? 'complaint' : null,
    }),
    complaint && h('p.notice.warn', {id: 'complaint', role: 'alert'}, complaint),
    h('button.primary', {type: 'submit'}, 'Log in'),
    h('p.hint', {}, h('code', {}, 'kubectl create token NAME -n NAMESPACE'),
        ' makes one for a ServiceAccount. It is kept in this tab until you log out or close it.'));

async function logIn(event) {
  event.preventDefault();
  token.set(document.getElementById('token').value.trim());
  await begin('This token is not valid in this cluster.');
}

function logOut(reason) {
  token.set('');
  following.abort();
  app.session = null;
  app.page?.close?.();
  app.page = null;
  complaint = reason;
  paint();
  document.getElementById('token')?.focus();
}

let following = new AbortController();

async function begin(refusal) {
  try {
    app.session = await get('session');
  } catch (e) {
    logOut(e.status === 401 ? refusal : e.message);
    return;
  }
  complaint = '';
  setNow(app.session.now);
  await open();
  following.abort();
  following = new AbortController();
  follow({
    signal: following.signal,
    changed: refresh,
    connected: live => {
      if (app.live !== live) {
        app.live = live;
        paint();
      }
    },
    refused: failed,
  });
}

// Live: one fetch at a time; what changes meanwhile causes one more.

let refreshing = false;
let again = false;

async function refresh() {
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  try {
    do {
      again = false;
      const page = app.page;
      await page?.refresh?.();
      if (page === app.page) {
        app.error = '';
        paint();
      }
    } while (again);
  } catch (e) {
    failed(e);
  } finally {
    refreshing = false;
  }
}

addEventListener('hashchange', () => {
  app.error = '';
  if (app.session) open();
});
setInterval(() => app.session && !document.hidden && paint(), 10000);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);

paintFirst();

async function paintFirst() {
  // A proxy, or a certificate, may have said who we are; then no token is needed.
  await begin(token.get() ? 'Your login is not valid any more.' : '');
}
