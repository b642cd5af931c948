// Elements of the page. Text only ever becomes a text node: names and reasons come from elsewhere.

const SVG = "http://www.w3.org/2000/svg";

// element makes an element with attributes and children; a child that is not a node becomes text.
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// drawing is element for SVG.
export function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// setText changes the text of an element, if it is another one.
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// setAttribute changes an attribute, if it has another value; null takes it away.
export function setAttribute(target, name, value) {
  if (value === null) target.removeAttribute(name);
  else if (target.getAttribute(name) !== String(value)) target.setAttribute(name, value);
}

export function byId(id) {
  return document.getElementById(id);
}

// KeyedList shows a view for each entry and keeps the view of a key, so that focus and scroll survive.
// A view has an element, and update(data).
export class KeyedList {
  #views = new Map();

  constructor(parent, makeView) {
    this.parent = parent;
    this.makeView = makeView;
  }

  // show takes [key, data] pairs, each key once.
  show(entries) {
    const wanted = new Set(entries.map(([key]) => key));
    for (const [key, view] of this.#views) {
      if (wanted.has(key)) continue;
      view.element.remove();
      this.#views.delete(key);
    }
    let place = this.parent.firstElementChild;
    for (const [key, data] of entries) {
      const view = this.#view(key);
      view.update(data);
      if (view.element === place) place = place.nextElementSibling;
      else this.parent.insertBefore(view.element, place);
    }
  }

  #view(key) {
    if (!this.#views.has(key)) this.#views.set(key, this.makeView());
    return this.#views.get(key);
  }
}
