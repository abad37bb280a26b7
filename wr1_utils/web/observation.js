// Body of one function with `request` in scope; actions.js follows it. observe(request) lists what a person would see of the
// page, over same-origin frames and open shadow roots, in document order, and keeps the nodes for the next action.

const MAX_LABEL = 80;
const MAX_TEXT = 20000;  // characters of one text or value that leave the page
const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "OPTION", "OPTGROUP", "DATALIST", "CANVAS", "VIDEO", "AUDIO",
  "OBJECT", "EMBED", "TITLE", "DESC", "DEFS", "PARAM"]);
const CONTROLS = "a[href],button,input:not([type=hidden]),select,textarea,[role=button],[role=link],[role=checkbox],[role=radio]," +
  "[role=switch],[role=combobox],[role=option],[role=tab],[role=menuitem],[contenteditable=''],[contenteditable=true]," +
  "[contenteditable=plaintext-only],[onclick],summary,iframe";
const FIELDS = "input:not([type=hidden]),select,textarea";
const ROLES = {button: "button", combobox: "button", link: "link", checkbox: "checkbox", switch: "checkbox", radio: "radio", tab: "tab", option: "option",
  menuitem: "menuitem", menuitemcheckbox: "menuitem", menuitemradio: "menuitem", treeitem: "menuitem"};
const FOCUSABLE = ["gridcell", "columnheader", "rowheader", "slider", "spinbutton"];  // clickable where they can have the focus
const collapse = text => (text || "").replace(/\s+/g, " ").trim();
const speaks = text => /[\p{L}\p{N}]/u.test(text);

// ---- places

function frameOrigin(view) {  // where the frame's viewport begins in the page's viewport
  let x = 0, y = 0;
  for (let frame = view.frameElement; frame; frame = frame.ownerDocument.defaultView.frameElement) {
    const rect = frame.getBoundingClientRect(), style = frame.ownerDocument.defaultView.getComputedStyle(frame);
    x += rect.left + frame.clientLeft + parseFloat(style.paddingLeft);
    y += rect.top + frame.clientTop + parseFloat(style.paddingTop);
  }
  return [x, y];
}

function rectOf(node) {
  if (node.nodeType === 1) return node.getBoundingClientRect();
  const range = node.ownerDocument.createRange();
  range.selectNodeContents(node);
  return range.getBoundingClientRect();
}

const shadowOf = node => node.shadowRoot || node.ownerDocument.defaultView.__wr1_activity?.closed.get(node) || null;
const isFolded = node => node.parentNode?.tagName === "DETAILS" && !node.parentNode.open && node.tagName !== "SUMMARY";
const isEmpty = rect => rect.width === 0 || rect.height === 0;
const parentOf = node => node.assignedSlot || node.parentNode || node.host;

function deepest(root, x, y) {
  let hit = root.elementFromPoint(x, y);
  while (hit && shadowOf(hit)) {
    const inner = shadowOf(hit).elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

function blocker(target, x, y) {  // what gets a click at x, y of the target's own frame instead of it; null: nothing; undefined: outside
  const view = target.ownerDocument.defaultView;
  const hit = deepest(target.ownerDocument, x, y);
  if (!hit) return undefined;
  let node = hit;
  while (node && node !== target && !(node.tagName === "LABEL" && node.control === target)) node = parentOf(node);
  if (!node) {
    const through = view.getComputedStyle(target).pointerEvents === "none" && hit.contains(target);
    if (!through) return hit;
  }
  const frame = view.frameElement;
  if (!frame) return null;
  const rect = frame.getBoundingClientRect(), style = frame.ownerDocument.defaultView.getComputedStyle(frame);
  return blocker(frame, x + rect.left + frame.clientLeft + parseFloat(style.paddingLeft),
    y + rect.top + frame.clientTop + parseFloat(style.paddingTop));
}

function clickPoint(target, thorough) {  // {x, y} of the page's viewport, or {blocked: element or undefined}
  let blocked;
  for (const rect of [...target.getClientRects()].slice(0, 4)) {
    if (rect.width <= 0 || rect.height <= 0) continue;
    const view = target.ownerDocument.defaultView;
    const left = Math.max(rect.left, 0), right = Math.min(rect.right, view.innerWidth);
    const top = Math.max(rect.top, 0), bottom = Math.min(rect.bottom, view.innerHeight);
    if (right <= left || bottom <= top) continue;
    for (const [u, v] of thorough ? [[.5, .5], [.2, .5], [.8, .5], [.5, .2], [.5, .8]] : [[.5, .5]]) {
      const x = left + (right - left) * u, y = top + (bottom - top) * v;
      const hit = blocker(target, x, y);
      if (hit === null) {
        const [dx, dy] = frameOrigin(view);
        return {x: x + dx, y: y + dy};
      }
      blocked = blocked || hit;
    }
  }
  return {blocked};
}

// ---- what is seen, and what it is called

const isShown = node => node.checkVisibility({opacityProperty: true, visibilityProperty: true});

function childrenOf(node) {
  const shadow = shadowOf(node);
  if (shadow) return shadow.childNodes;
  if (node.tagName === "SLOT") {
    const assigned = node.assignedNodes();
    if (assigned.length) return assigned;
  }
  return node.childNodes;
}

// Every property of a computed style and every rectangle asked for costs about a microsecond: each is read once, and only where it can matter.
function tiny(node, position, overflowX, style) {  // the usual ways to keep text for screen readers only
  const clipPath = style.clipPath;
  if (clipPath === "inset(50%)" || clipPath === "inset(100%)") return true;
  const placed = position === "absolute";
  if ((placed || position === "fixed") && style.clip === "rect(0px, 0px, 0px, 0px)") return true;
  const cuts = overflowX !== "visible" && overflowX !== "auto" && overflowX !== "scroll";
  if (!cuts && !placed) return false;
  const rect = node.getBoundingClientRect();
  return (cuts && isEmpty(rect)) || (placed && rect.width <= 1 && rect.height <= 1 && style.overflow !== "visible");
}

function visibleText(node, skipControls, field) {  // of a node and what it contains, without the labels of other fields than `field`
  if (isFolded(node)) return "";
  if (node.nodeType === 3) return isShown(node.parentElement || node.getRootNode().host) ? node.data : "";
  if (node.nodeType !== 1 || SKIP.has(node.tagName.toUpperCase())) return "";
  if (skipControls && node.matches("input,select,textarea,button")) return " ";
  if (field && node.tagName === "LABEL" && node.control && node.control !== field) return " ";
  const style = node.ownerDocument.defaultView.getComputedStyle(node);
  const display = style.display;
  if (display === "none" || style.opacity === "0" || (style.fontSize === "0px" && !node.children.length)) return "";
  if (display !== "contents" && tiny(node, style.position, style.overflowX, style)) return "";
  let text = "";
  for (const child of childrenOf(node)) text += visibleText(child, skipControls, field);
  return display.startsWith("inline") || display === "contents" ? text : ` ${text} `;
}

function referenced(node) {
  const ids = (node.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean);
  return collapse(ids.map(id => node.getRootNode().getElementById?.(id)?.textContent || "").join(" "));
}

function contentName(node, text) {  // of a link, button, tab and the like
  if (speaks(text)) return text;
  const alt = [...node.querySelectorAll("img[alt]")].map(image => collapse(image.alt)).filter(Boolean).join(" ");
  const drawn = node.querySelector("svg title")?.textContent || node.querySelector("svg[aria-label]")?.getAttribute("aria-label");
  return [referenced(node), node.getAttribute("aria-label"), alt, node.alt, node.getAttribute("title"), drawn, text, node.textContent]
    .map(collapse).find(Boolean) || (node.namespaceURI.endsWith("svg") ? node.tagName : "");
}

function labelsOf(node) {  // the outermost ones; of fields with one id, each has its own
  const root = node.getRootNode(), labels = [...(node.labels || [])];
  const twins = node.id && labels.length !== 1 ? [...root.querySelectorAll(`#${CSS.escape(node.id)}`)] : [];
  if (twins.length > 1) {
    const shared = [...root.querySelectorAll(`label[for="${CSS.escape(node.id)}"]`)];
    if (shared.length === twins.length) return [shared[twins.indexOf(node)]];
  }
  return labels.filter(label => !labels.some(other => other !== label && other.contains(label)));
}

function textBefore(node, within) {  // between the field before it and this one
  const walker = node.ownerDocument.createTreeWalker(within, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let text = "";
  for (let next = walker.nextNode(); next && next !== node; next = walker.nextNode()) {
    if (next.nodeType === 3) text += visibleText(next); else if (next.matches(FIELDS)) text = "";
  }
  return collapse(text);
}

function controlName(node, before) {  // of a textbox, select, checkbox or radio; `before`: the text that stands before it in its block
  const labels = labelsOf(node), around = node.closest("label");
  const shared = around && around.querySelectorAll(FIELDS).length > 1;  // a label around several fields names each by what stands before it
  let name = (shared && textBefore(node, around)) || collapse(labels.map(label => visibleText(label, true, node)).join(" ")) ||
    collapse(labels.map(label => label.matches("label *") ? "" : [...label.childNodes].filter(n => n.nodeType === 3)
      .map(n => n.data).join(" ")).join(" ")) || referenced(node);
  if (name) return name;
  const box = node.matches("[type=checkbox],[type=radio],[role=checkbox],[role=radio],[role=switch]");
  const after = node.nextSibling;
  if (box && after?.nodeType === 3 && speaks(after.data)) {
    state.spoken.add(after);
    return collapse(after.data);
  }
  return [node.getAttribute("aria-label"), node.getAttribute("placeholder"), node.getAttribute("aria-placeholder"), node.getAttribute("title"),
    node.tagName === "BODY" ? node.ownerDocument.defaultView.frameElement?.title : "", box && !node.matches("input") ? visibleText(node) : "", before, node.getAttribute("name")].map(collapse).find(Boolean) || "";
}

function nativeRole(node) {
  switch (node.tagName) {
    case "A": return node.hasAttribute("href") ? "link" : null;
    case "BUTTON": case "SUMMARY": return "button";
    case "SELECT": return "select";
    case "TEXTAREA": return "textbox";
    case "INPUT": switch (node.type) {
      case "hidden": return null;
      case "checkbox": case "radio": return node.type;
      case "submit": case "button": case "reset": case "image": case "file": return "button";
      default: return "textbox";
    }
  }
  return null;
}

function roleOf(node, points) {  // `points`: the pointer says that a click does something, and said it nowhere around
  const given = (node.getAttribute("role") || "").trim().split(" ")[0], native = nativeRole(node);
  if (!native && node.isContentEditable && (!node.parentElement?.isContentEditable || node.tagName === "BODY")) return "textbox";
  if (native && !(given in ROLES && native !== "textbox" && native !== "select")) return native;
  if (given in ROLES) return ROLES[given];
  if (FOCUSABLE.includes(given) && node.hasAttribute("tabindex")) return "clickable";
  if (["BODY", "HTML", "FORM", "IFRAME"].includes(node.tagName) || (node.tagName === "LABEL" && node.control)) return null;
  if (points || node.hasAttribute("onclick") || node.onclick) return node.tagName === "A" ? "link" : "clickable";
  const view = node.ownerDocument.defaultView;
  if (view.__wr1_activity?.listening.has(node) && !node.querySelector(CONTROLS) && visibleText(node).trim().length <= MAX_LABEL)
    return node.tagName === "A" ? "link" : "clickable";
  return null;
}

function holdsOthers(node, style) {  // do things within it take clicks of their own? A card with icons, a list that listens for its entries
  const view = node.ownerDocument.defaultView, listening = view.__wr1_activity?.listening, points = style.cursor === "pointer";
  return [...node.querySelectorAll("*")].some(inner => listening?.has(inner) || (!points && view.getComputedStyle(inner).cursor === "pointer"));
}

const isFile = node => node.tagName === "INPUT" && node.type === "file";

function isDisabled(node) {
  return node.matches(":disabled") || node.getAttribute("aria-disabled") === "true" || Boolean(node.closest("[inert]"));
}

function stateOf(node, role) {
  const words = [], aria = name => node.getAttribute(`aria-${name}`) === "true";
  if (role === "checkbox" || role === "radio" ? node.checked || aria("checked") : aria("checked")) words.push("checked");
  if (node.indeterminate || node.getAttribute("aria-checked") === "mixed") words.push("mixed");
  if (aria("selected") || (role === "tab" && node.getAttribute("aria-current"))) words.push("selected");
  if (aria("expanded") || (node.tagName === "SUMMARY" && node.parentElement?.open)) words.push("expanded");
  if (aria("pressed")) words.push("pressed");
  if (role === "textbox" && (node.readOnly || aria("readonly"))) words.push("readonly");
  if (isDisabled(node)) words.push("disabled");
  return words;
}

function valueOf(node, role) {
  if (role === "textbox") return /^(INPUT|TEXTAREA)$/.test(node.tagName) ? node.value : (node.innerText ?? node.textContent).replace(/\n$/, "");
  if (role === "select") return [...node.selectedOptions].map(option => collapse(option.label)).join(", ");
  if (isFile(node)) return [...node.files].map(file => file.name).join(", ");
  return node.getAttribute("aria-valuetext") || node.getAttribute("aria-valuenow");
}

function isFilled(node, role) {  // does it hold what a person has put in, or what would be sent with the form?
  if (role === "textbox") return valueOf(node, role) !== "" && node.type !== "range";
  if (role === "checkbox" || role === "radio") return Boolean(node.checked) || node.getAttribute("aria-checked") === "true";
  if (role !== "select") return false;
  return node.multiple ? node.selectedOptions.length > 0 : node.selectedIndex > 0 && !node.selectedOptions[0].defaultSelected;
}

// ---- the walk

function observe(request) {
  const busy = activity(window, request.stay, request.force);
  if (((busy.navigating || busy.loading) && !request.stay) || (busy.wait > 0 && !request.force)) return {busy};
  const previous = window.__wr1;
  state.generation = request.generation;
  window.__wr1 = state;
  const hidden = request.hidden.join(","), rows = [];
  let run = null, scrolled = window.scrollY > 0;

  function add(node, role, label, context, more) {
    const place = more?.via || node, rect = more?.rect || rectOf(place), clip = context.clip, hard = context.hard;
    const outside = rect.right <= clip[0] || rect.left >= clip[2] || rect.bottom <= clip[1] || rect.top >= clip[3];
    const away = hard && (rect.right <= hard[0] || rect.left >= hard[2] || rect.bottom <= hard[1] || rect.top >= hard[3]);
    if (away && rect.width > 0 && rect.height > 0) return;
    if (!context.scroller && rect.width > 0 && beforeStart(rect, node.ownerDocument.defaultView)) return;
    const interactive = !["text", "heading", "image", "frame"].includes(role);
    const inView = !outside && rect.width > 0 && rect.height > 0;
    state.nodes.push({node, via: more?.via, role});
    state.elements.push({  // what is undefined stays out of the answer: of a huge page that is half of it
      role, label: label.slice(0, MAX_TEXT), row: context.row, interactive, in_view: inView,
      box: [rect.left + context.x, rect.top + context.y, rect.width, rect.height].map(Math.round),
      value: more?.value?.slice(0, MAX_TEXT), state: more?.state?.length ? more.state : undefined, options: more?.options?.length ? more.options : undefined,
      covered: (interactive && inView && Boolean(clickPoint(place, false).blocked)) || undefined, fixed: context.fixed || undefined,
      filled: isFilled(node, role) || undefined, origin: more?.origin, target: (role === "link" && node.href) || undefined,
    });
    if (context.row !== null) rows[context.row] = (rows[context.row] || 0) + 1;
  }

  const edges = new Map();
  function beforeStart(rect, view) {  // is it where nobody can scroll to: to the left of the document, or above it?
    if (!edges.has(view)) {
      const root = view.document.scrollingElement, body = view.document.body;
      const leftwards = [root, body].some(node => node && view.getComputedStyle(node).direction === "rtl");
      const left = leftwards && root ? Math.min(0, root.clientWidth - root.scrollWidth) : 0;  // read from right to left, it goes on to the left
      edges.set(view, [left - view.scrollX, -view.scrollY]);
    }
    const [left, top] = edges.get(view);
    return rect.right <= left || rect.bottom <= top;
  }

  function flush() {
    if (!run) return;
    const {text, node, context} = run;
    run = null;
    const said = collapse(text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text);
    if (!speaks(said) && !/[^\s|·•›»«‹\/\\–—-]/.test(said)) return;
    const owner = context.owner;
    if (owner && !owner.told) {
      owner.told = true;
      add(owner.node, owner.role, said, context, {state: stateOf(owner.node, owner.role)});
    } else add(node, context.heading ? "heading" : "text", said, context);
  }

  function control(node, role, context, via) {
    let before = (role === "textbox" || role === "select") && run && run.context.owner === null ? collapse(run.text) : "";
    if (!speaks(before) || before.length > MAX_LABEL / 2) before = "";
    const named = before && controlName(node, before) === before;
    if (named) run = null; else flush();
    const more = {state: stateOf(node, role), value: valueOf(node, role), via};
    let label;
    if (named) label = before;
    else if (role === "textbox" || role === "select" || role === "checkbox" || role === "radio") label = controlName(node);
    else if (node.tagName === "INPUT") label = collapse(node.type === "file" ? controlName(node) || "Choose file" :
      node.value || node.alt || contentName(node, "") || {submit: "Submit", reset: "Reset"}[node.type]);
    else label = contentName(node, collapse(visibleText(node, true)));
    if (role === "select") more.options = [...node.options].map(option => collapse(option.label));
    else if (role === "textbox" && node.list) more.options = [...node.list.options].map(option => collapse(option.value || option.label));
    add(node, role, label, context, more);
  }

  function walk(node, context) {
    if (isFolded(node)) return;
    if (node.nodeType === 3) {
      if (context.silent || !context.visible || state.spoken.has(node) || !node.data) return;
      if (!/\S/.test(node.data)) { if (run) run.text += " "; return; }
      if (run && (run.context.owner !== context.owner || run.context.heading !== context.heading)) flush();
      if (run) run.text += node.data; else run = {text: node.data, node, context};
      return;
    }
    if (node.nodeType !== 1 || SKIP.has(node.tagName.toUpperCase()) || (hidden && node.matches(hidden))) return;
    const style = node.ownerDocument.defaultView.getComputedStyle(node), display = style.display;
    if (display === "none" || style.contentVisibility === "hidden") return;
    const opacity = style.opacity, visible = style.visibility === "visible";
    if (node.tagName === "LABEL" && node.control && !context.silent && !isShown(node.control) && opacity !== "0") {
      const role = nativeRole(node.control);
      if (role && visible) control(node.control, role, context, node);
      return walkChildren(node, {...context, silent: true, visible}, display);
    }
    if (opacity === "0") return;
    const position = style.position, overflowX = style.overflowX, boxed = display !== "contents";
    if (boxed && tiny(node, position, overflowX, style)) return;
    const points = style.cursor === "pointer", inner = {...context, visible: visible && style.fontSize !== "0px", pointer: points};
    if (position === "fixed" || position === "sticky") inner.fixed = true;
    if (position === "fixed") { inner.clip = inner.view; inner.hard = null; }
    if (boxed && overflowX !== "visible" && !["BODY", "HTML"].includes(node.tagName) && !display.startsWith("table")) {
      const box = node.getBoundingClientRect(), edge = [box.left, box.top, box.right, box.bottom];
      inner.clip = [Math.max(inner.clip[0], edge[0]), Math.max(inner.clip[1], edge[1]), Math.min(inner.clip[2], edge[2]), Math.min(inner.clip[3], edge[3])];
      const scrolls = /auto|scroll/.test(overflowX + style.overflowY);
      inner.hard = scrolls ? null : edge;
      inner.scroller = inner.scroller || scrolls;
      scrolled = scrolled || (scrolls && node.scrollTop > 0);
    }
    if (/^H[1-6]$/.test(node.tagName) || node.getAttribute("role") === "heading") inner.heading = true;
    const isRow = (node.tagName === "TR" || node.getAttribute("role") === "row") && context.row === null && !node.querySelector("table");
    if (isRow) { flush(); inner.row = rows.length; rows.push(0); }

    if (node.tagName === "IFRAME" || node.tagName === "FRAME") return walkFrame(node, inner, boxed ? node.getBoundingClientRect() : null, style);
    if (node.tagName === "IMG") {
      const alt = collapse(node.alt);
      const role = roleOf(node, points && !context.pointer);
      if (inner.visible && (role || (alt && !context.silent && !(context.owner && !context.owner.told)))) {
        flush();
        add(node, role || "image", alt || collapse(node.title), inner, {state: []});
      }
      return;
    }
    const role = inner.visible && node !== context.told ? roleOf(node, points && !context.pointer) : null;
    if (!role) {
      if (node.tagName === "LABEL" && node.control && isShown(node.control)) inner.silent = true;
      walkChildren(node, inner, display);
      if (isRow) flush();
      return;
    }
    if (["textbox", "select", "checkbox", "radio"].includes(role)) {
      control(node, role, inner);
      if (["checkbox", "radio"].includes(role) && node.tagName !== "INPUT") walkChildren(node, {...inner, silent: true}, display);
      return;
    }
    const nested = Boolean(node.querySelector(CONTROLS)) || (role === "clickable" && holdsOthers(node, style)), text = collapse(visibleText(node, true));
    if (!isRow && text.length <= MAX_LABEL && !(nested && role === "clickable")) {
      if (role === "clickable" && boxed && !text && isEmpty(node.getBoundingClientRect())) return walkChildren(node, inner, display);
      const first = nested ? node.querySelector(CONTROLS) : null;  // <li role=tab><a>Tab</a></li> is one thing: the link takes the click
      const same = first && text && first.tagName !== "IFRAME" && collapse(visibleText(first)) === text ? first : null;
      control(node, role, inner, same);
      if (nested || shadowOf(node)) walkChildren(node, {...inner, silent: true, told: same}, display);
      return;
    }
    flush();  // long or holding others: its first text carries the id, the rest stands as it is
    const owner = {node, role, told: false};
    walkChildren(node, {...inner, owner}, display);
    flush();
    if (!owner.told && role !== "clickable") control(node, role, inner);
  }

  function walkChildren(node, context, display) {
    const block = !display.startsWith("inline") && display !== "contents" && display !== "ruby";
    if (block) flush();
    else if (display !== "inline" && run) run.text += " ";
    if (node.tagName === "BR" && run) run.text += " ";
    for (const child of childrenOf(node)) walk(child, context);
    if (block) flush();
  }

  function walkFrame(node, context, box, style) {
    let inside = null;
    try { inside = node.contentDocument; } catch (error) { inside = null; }
    flush();
    if (!context.visible || (inside && !inside.body)) return;
    if (!inside) {  // of another origin: its own script looks into it, see frames.py
      if (!box || box.width <= 1 || box.height <= 1) return;
      node.__wr1_frame = {generation: request.generation, node: state.nodes.length};
      return add(node, "frame", collapse(node.title), context, {origin: [context.x + box.left + node.clientLeft + parseFloat(style.paddingLeft),
        context.y + box.top + node.clientTop + parseFloat(style.paddingTop)].map(Math.round)});
    }
    const [x, y] = frameOrigin(inside.defaultView), dx = x - context.x, dy = y - context.y;
    const seen = [0, 0, inside.defaultView.innerWidth, inside.defaultView.innerHeight];
    const clip = [Math.max(seen[0], context.clip[0] - dx), Math.max(seen[1], context.clip[1] - dy),
      Math.min(seen[2], context.clip[2] - dx), Math.min(seen[3], context.clip[3] - dy)];
    scrolled = scrolled || inside.defaultView.scrollY > 0;
    walk(inside.body, {...context, x, y, clip, view: clip, hard: null, scroller: true, pointer: false, owner: null});
    flush();
  }

  const viewport = [0, 0, window.innerWidth, window.innerHeight];
  if (document.body) walk(document.body, {x: 0, y: 0, clip: viewport, view: viewport, hard: null, scroller: false, fixed: false, row: null,
    owner: null, heading: false, silent: false, visible: true, pointer: false, told: null});
  flush();
  for (const element of state.elements) if (element.row !== null && rows[element.row] < 2) element.row = null;
  state.anchor = previous?.anchor || null;
  let anchor = state.anchor ? state.nodes.findIndex(entry => entry.node === state.anchor) : -1;
  if (anchor < 0 && scrolled) anchor = state.elements.findIndex(element => element.in_view && !element.fixed);
  return {busy, url: location.href, title: document.title, anchor: Math.max(anchor, 0), elements: state.elements};
}

function activity(top, stay, force) {  // what the page is still doing, over all same-origin frames: see activity.js
  const busy = {navigating: false, loading: false, opened: 0, closed: 0, wait: 0};
  (function look(view) {
    const own = view.__wr1_activity;
    if (own) {
      const now = own.pending();
      if (view === top ? stay : force) own.navigating = false;  // it led to no new document: a download, or an empty answer
      busy.opened += own.opened;
      own.opened = 0;
      busy.closed += own.tabs.filter(tab => tab.closed).length;
      own.tabs = own.tabs.filter(tab => !tab.closed);
      if (own.navigating && view === top) busy.navigating = true;
      busy.wait = Math.max(busy.wait, now, own.navigating ? 20 : 0);
    }
    if (view.document.readyState === "loading") {
      busy.wait = Math.max(busy.wait, 10);
      busy.loading ||= view === top && half(view);
    } else if (view.document.readyState !== "complete" &&
      [...view.document.querySelectorAll("link[rel~=stylesheet]")].some(sheet => !sheet.sheet && !sheet.disabled)) busy.wait = Math.max(busy.wait, 10);
    for (let i = 0; i < view.length; i++) {
      let inside = null;
      try { inside = view[i].document && view[i]; } catch (error) { inside = null; }
      if (inside) look(inside);
    }
  })(top);
  return busy;
}

// Has only a part of the document come? One that a script writes anew is "loading", too, and may be for ever.
const half = view => view.location.protocol.startsWith("http") && !view.performance.getEntriesByType("navigation")[0]?.domContentLoadedEventStart;

const state = {generation: 0, nodes: [], elements: [], spoken: new Set(), anchor: null};
