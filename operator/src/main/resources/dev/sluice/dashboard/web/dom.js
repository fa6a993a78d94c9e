// Elements from data, and the smallest change from the page that is shown to the page that should be.

const HANDLERS = ['onclick', 'oninput', 'onchange', 'onsubmit', 'onkeydown'];
const PROPERTIES = ['checked', 'disabled', 'selected'];

/** Attributes that are compared apart, or that the user changes. */
const LEFT_ALONE = ['style', 'open'];

/**
 * An element. Properties are attributes, except handlers, `vars` (custom properties of CSS) and
 * `key` (which element of a list this is). Children are elements, texts, or lists of them; false
 * and null are left out. Texts stay texts: nothing is ever parsed as HTML.
 */
export function h(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = SVG.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name || 'div');
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === false || value == null) continue;
    if (HANDLERS.includes(key)) element[key] = value;
    else if (key === 'vars') {
      for (const [v, of] of Object.entries(value)) element.style.setProperty(`--${v}`, of);
    } else if (key === 'class') {
      element.setAttribute('class', [...classes, value].join(' '));
    } else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(
      ...children.flat(Infinity).filter(child => child !== false && child != null && child !== ''));
  return element;
}

const SVG = new Set(['svg', 'path', 'circle', 'rect', 'g']);

/** Makes `shown` look like `wanted`, and leaves alone what is the same already. */
export function morph(shown, wanted) {
  if (shown.nodeType === Node.TEXT_NODE) {
    if (shown.data !== wanted.data) shown.data = wanted.data;
    return;
  }
  if (shown.hasAttribute('data-keep')) {
    shown.className = wanted.className;
    return;
  }
  for (const {name} of [...shown.attributes]) {
    if (!wanted.hasAttribute(name) && !LEFT_ALONE.includes(name)) shown.removeAttribute(name);
  }
  for (const {name, value} of wanted.attributes) {
    if (!LEFT_ALONE.includes(name) && shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
  if (shown.style.cssText !== wanted.style.cssText) shown.style.cssText = wanted.style.cssText;
  for (const handler of HANDLERS) shown[handler] = wanted[handler];
  for (const property of PROPERTIES) {
    if (property in shown) shown[property] = wanted.hasAttribute(property);
  }
  children(shown, [...wanted.childNodes]);
}

const same = (a, b) =>
  a.nodeType === b.nodeType && a.nodeName === b.nodeName
  && (a.getAttribute?.('key') ?? null) === (b.getAttribute?.('key') ?? null)
  && (a.dataset?.keep ?? null) === (b.dataset?.keep ?? null);

function children(shown, wanted) {
  let at = shown.firstChild;
  for (const child of wanted) {
    let match = at;
    while (match && !same(match, child)) match = match.nextSibling;
    if (match) {
      while (at !== match) {
        const gone = at;
        at = at.nextSibling;
        gone.remove();
      }
      at = at.nextSibling;
      morph(match, child);
    } else {
      shown.insertBefore(child, at);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

/** Replaces the children of an element by these, with as little change as possible. */
export function fill(element, ...wanted) {
  const holder = h('div', {}, ...wanted);
  children(element, [...holder.childNodes]);
}
