// A list of any length: only the rows in view exist, and only their part of the data is fetched.

import {fill, h, morph} from './dom.js';

const PAGE = 100;
const AROUND = 8;

/** Milliseconds without scrolling after which rows are fetched. */
const STILL = 40;

export class Rows {
  /**
   * @param {HTMLElement} root where the list is; emptied
   * @param {{fetch: Function, row: Function, heads: Array, label: string, total: Function}} options
   *     `fetch(offset, limit)` promises {total, items}; `row(item)` makes an element
   */
  constructor(root, options) {
    this.options = options;
    this.root = root;
    this.pages = new Map();
    this.loading = new Map();
    this.total = 0;
    this.stamp = 0;
    this.body = h('div.rows-body', {role: 'rowgroup'});
    fill(root, h('div.row.heads', {role: 'row'}, options.heads));
    root.append(this.body);
    root.setAttribute('role', 'table');
    root.setAttribute('aria-label', options.label);
    this.shown = new Map();
    this.paint = this.paint.bind(this);
    this.scrolled = () => requestAnimationFrame(this.paint);
    addEventListener('scroll', this.scrolled, {passive: true});
    addEventListener('resize', this.scrolled, {passive: true});
  }

  close() {
    removeEventListener('scroll', this.scrolled);
    removeEventListener('resize', this.scrolled);
    clearTimeout(this.timer);
    this.closed = true;
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue('--row')) || 52;
  }

  range() {
    const top = this.body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(-top / this.rowHeight) - AROUND);
    const last = Math.ceil((innerHeight - top) / this.rowHeight) + AROUND;
    return [first, Math.min(this.total, Math.max(first, last))];
  }

  /** Fetches what is in view again, and forgets the rest. */
  async refresh() {
    this.stamp++;
    const [first, last] = this.range();
    const pages = new Set([Math.floor(first / PAGE), Math.floor(Math.max(first, last - 1) / PAGE)]);
    for (const page of [...this.pages.keys()]) if (!pages.has(page)) this.pages.delete(page);
    await Promise.all([...pages].map(page => this.load(page)));
    this.paint();
  }

  load(page) {
    const stamp = this.stamp;
    const loading = this.loading.get(page);
    if (loading?.stamp === stamp) return loading.done;
    const done = this.options.fetch(page * PAGE, PAGE).then(answer => {
      if (this.closed || stamp < (this.pages.get(page)?.stamp ?? 0)) return;
      this.pages.set(page, {items: answer.items, stamp});
      if (answer.total !== this.total) {
        this.total = answer.total;
        this.options.total?.(answer.total);
      }
    }).finally(() => this.loading.delete(page));
    this.loading.set(page, {stamp, done});
    return done;
  }

  item(index) {
    return this.pages.get(Math.floor(index / PAGE))?.items[index % PAGE];
  }

  paint() {
    if (this.closed) return;
    const height = this.rowHeight;
    this.root.setAttribute('aria-rowcount', this.total + 1);
    this.body.style.height = `${this.total * height}px`;
    const [first, last] = this.range();
    for (const [index, element] of this.shown) {
      if (index < first || index >= last) {
        if (element.contains(document.activeElement)) continue;
        element.remove();
        this.shown.delete(index);
      }
    }
    const missing = new Set();
    let before = null;
    for (let index = first; index < last; index++) {
      const item = this.item(index);
      if (!item) missing.add(Math.floor(index / PAGE));
      const wanted = item ? this.options.row(item) : h('div.row.loading', {role: 'row'});
      wanted.setAttribute('aria-rowindex', index + 2);
      wanted.style.transform = `translateY(${index * height}px)`;
      let element = this.shown.get(index);
      if (element && element.nodeName === wanted.nodeName) morph(element, wanted);
      else {
        element?.remove();
        element = wanted;
        this.shown.set(index, element);
      }
      const place = before ? before.nextSibling : this.body.firstChild;
      if (place !== element) this.body.insertBefore(element, place);
      before = element;
    }
    if (missing.size) this.loadSoon();
  }

  /** Fetches what is in view when the view stands still, not all that is scrolled past. */
  loadSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.closed) return;
      const [first, last] = this.range();
      for (let page = Math.floor(first / PAGE); page * PAGE < last; page++) {
        if (!this.pages.has(page)) this.load(page).then(this.paint, () => this.retry());
      }
    }, STILL);
  }

  retry() {
    if (!this.closed) this.timer = setTimeout(this.paint, 1000);
  }

  /** Moves the focus by so many rows. */
  move(by) {
    const focused = [...this.shown].find(([, element]) => element === document.activeElement);
    const visible = this.range()[0] + AROUND;
    const index = Math.max(0, Math.min(
        this.total - 1, focused ? focused[0] + by : this.range()[0] === 0 ? 0 : visible));
    const top = this.body.getBoundingClientRect().top + index * this.rowHeight;
    const room = 140;
    if (top < room) scrollBy(0, top - room);
    if (top > innerHeight - room) scrollBy(0, top - innerHeight + room);
    this.paint();
    this.shown.get(index)?.focus({preventScroll: true});
  }
}
