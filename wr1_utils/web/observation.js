// Follows places.js, colours.js and names.js in the same function, actions.js follows it. observe(request) lists what a person would see of the page, over
// same-origin frames and shadow roots, in document order, and keeps the nodes for the next action.

const STILL = new Set(["text", "heading", "image", "frame", "progress", "meter"]);  // nothing to act on
const HEADINGS = new Set(["H1", "H2", "H3", "H4", "H5", "H6"]);
const NAMED = new Set(["textbox", "select", "checkbox", "radio", "progress", "meter"]);  // called by a label or what stands before

function observe(request) {
  const busy = activity(window, request.stay, request.force);
  if (((busy.navigating || busy.loading) && !request.stay) || (busy.wait > 0 && !request.force)) return {busy};
  const previous = window.__wr1;
  state.generation = request.generation;
  window.__wr1 = state;
  const hidden = request.hidden.join(","), unwanted = new Set(), rows = [];
  let run = null, scrolled = window.scrollY > 0;

  function add(node, role, label, context, more) {
    const place = more?.via || node, rect = more?.rect || rectOf(place);
    if (isOutOfReach(rect, context.bounds) || (isThin(rect) && isFlattened(place))) return false;
    const interactive = !STILL.has(role), inView = !isBeyond(rect, context.bounds.clip) && !isEmpty(rect);
    state.nodes.push({node, via: more?.via, role, over: more?.over});
    const element = {role, label: label.slice(0, MAX_TEXT), box: [Math.round(rect.left + context.x), Math.round(rect.top + context.y),
      Math.round(rect.width), Math.round(rect.height)]};  // what is false or empty stays out of the answer: of a huge page that is half of it
    if (interactive) element.interactive = true;
    if (inView) element.in_view = true;
    if (more?.value) element.value = more.value.slice(0, MAX_TEXT); else if (more?.value === "") element.value = "";
    if (more?.state?.length) element.state = more.state;
    if (more?.options?.length) element.options = more.options;
    if (context.fixed) element.fixed = true;
    if (NAMED.has(role) && isFilled(node, role)) element.filled = true;
    if (more?.origin) element.origin = more.origin;
    if (context.row !== null) {
      element.row = context.row;
      rows[context.row] = (rows[context.row] || 0) + 1;
    }
    state.elements.push(element);
    return true;
  }

  function flush() {
    if (!run) return;
    const {text, node, rect, context} = run;
    run = null;
    const said = collapse(text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text);
    if (!speaks(said) && !/[^\s|·•›»«‹\/\\–—-]/.test(said)) return;
    const owner = context.owner;
    if (owner && !owner.told && add(owner.node, owner.role, said, context, {state: stateOf(owner.node, owner.role)})) owner.told = true;
    else add(node, context.heading ? "heading" : "text", said, context, {rect});
  }

  function control(node, role, context, more) {  // `more`: via, another element that stands for it; over: it lies over what is drawn for it; text; rect
    let before = role !== "checkbox" && role !== "radio" && NAMED.has(role) && run && run.context.owner === null ? collapse(run.text) : "";
    if (!speaks(before) || before.length > MAX_LABEL / 2) before = "";
    const named = before && controlName(node, before) === before;
    if (named) run = null; else flush();
    more = {...more, state: stateOf(node, role), value: valueOf(node, role)};
    let label;
    if (named) label = before;
    else if (NAMED.has(role)) label = controlName(node);
    else if (node.tagName === "INPUT") label = collapse(node.type === "file" ? controlName(node) || "Choose file" :
      node.value || node.alt || contentName(node, "") || {submit: "Submit", reset: "Reset"}[node.type]);
    else label = contentName(node, more.text ?? collapse(visibleText(node, true)), role);
    if (role === "select") more.options = [...node.options].map(option => collapse(option.label));
    else if (role === "textbox" && node.list) more.options = [...node.list.options].map(option => collapse(option.value || option.label));
    add(node, role, label, context, more);
  }

  function walk(node, context) {
    if (node.nodeType === 3) {
      const text = context.silent || state.spoken.has(node) ? "" : node.data;
      if (!text) return;
      if (run && run.context === context) { run.text += text; return; }  // it goes on in the element where it began
      const blank = !/\S/.test(text);
      if ((blank && !run) || context.style.visibility !== "visible") return;
      if (blank) { run.text += " "; return; }
      const rect = rectOf(node);
      if (isThin(rect) || isOutOfReach(rect, context.bounds) || isDrawnInVain(node, context)) return;
      if (run && (run.context.owner !== context.owner || run.context.heading !== context.heading)) flush();
      if (run) run.text += text; else run = {text, node, rect, context};
      return;
    }
    const tag = node.tagName;
    if (node.nodeType !== 1 || (SKIP.has(tag) && !HOLDERS.has(tag)) || unwanted.has(node)) return;
    const style = context.view.getComputedStyle(node), display = style.display, inline = display === "inline";
    if (display === "none" || (!inline && style.contentVisibility === "hidden")) return;
    const own = style.opacity, opacity = own === "1" ? context.opacity : context.opacity * own;
    if (opacity < FAINT) {
      const visible = style.visibility === "visible" && (!context.style || context.style.visibility === "visible");
      if (visible && liesOver(node, style)) control(node, nativeRole(node), context, {over: true});
      return;
    }
    const position = inline ? "static" : style.position, boxed = display !== "contents", overflowX = inline || !boxed ? "visible" : style.overflowX;
    const box = cuttingBox(node, overflowX);
    if (boxed && isHiddenBox(node, box, position, style)) return;
    const inner = {...context, style, opacity, ground: null, around: context};
    const labelled = tag === "LABEL" ? node.control : null, seen = labelled && isSeen(labelled);
    if (labelled && !seen && !context.silent) {
      const role = nativeRole(labelled);
      if (!isShown(labelled) || role === "checkbox" || role === "radio" || isFile(labelled)) {  // a click on the label is one on it
        if (role && style.visibility === "visible") control(labelled, role, context, {via: node});
        return walkChildren(node, {...inner, silent: true}, display);
      }
    }
    if (position === "fixed" || position === "sticky") inner.fixed = true;
    if (position === "fixed" && !node.offsetParent) inner.bounds = context.screen;
    else if (position === "absolute" || position === "fixed") inner.bounds = boundsAround(node, context.bounds);
    if (box && !display.startsWith("table")) {
      const outer = inner.bounds, edges = [box.left, box.top, box.right, box.bottom];
      const scrolls = /auto|scroll/.test(overflowX + style.overflowY);
      if (isOutOfReach(box, outer)) return;
      inner.bounds = {node, clip: within(outer.clip, edges), hard: scrolls ? null : outer.hard ? within(outer.hard, edges) : edges,
        start: scrolls ? scrollerStart(node, box, style) : outer.start, outer};
      scrolled = scrolled || (scrolls && node.scrollTop > 0);
    }
    const given = node.getAttribute("role");
    if (HEADINGS.has(tag) || given === "heading") inner.heading = true;
    const isRow = (tag === "TR" || given === "row") && context.row === null && !node.querySelector("table");
    if (isRow) { flush(); inner.row = rows.length; rows.push(0); }

    if (HOLDERS.has(tag)) return walkFrame(node, inner, style);
    let role = node === context.told ? null : roleOf(node, given, style, context.style);
    if (role && style.visibility !== "visible") role = null;
    if (tag === "IMG") {
      const alt = collapse(node.alt), shows = alt && !context.silent && !(context.owner && !context.owner.told) && style.visibility === "visible";
      if (role || shows) {
        flush();
        add(node, role || "image", alt || collapse(node.title), inner, {state: []});
      }
      return;
    }
    if (tag === "AREA" && isEmpty(rectOf(node))) return;
    if (!role) {
      if (seen) inner.silent = true;
      walkChildren(node, inner, display);
      if (isRow) flush();
      return;
    }
    if (NAMED.has(role)) {
      control(node, role, inner, {rect: box});
      if ((role === "checkbox" || role === "radio") && tag !== "INPUT") walkChildren(node, {...inner, silent: true}, display);
      return;
    }
    const nested = Boolean(node.querySelector(CONTROLS)) || (role === "clickable" && holdsOthers(node, style)), text = collapse(seenText(node, display, style));
    if (!isRow && text.length <= MAX_LABEL && !(nested && role === "clickable")) {
      if (role === "clickable" && boxed && !text && isEmpty(rectOf(node))) return walkChildren(node, inner, display);
      const first = nested ? node.querySelector(CONTROLS) : null;  // <li role=tab><a>Tab</a></li> is one thing: the link takes the click
      const same = first && text && first.tagName !== "IFRAME" && collapse(visibleText(first)) === text ? first : null;
      control(node, role, inner, {via: same, text, rect: same ? null : box});
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
    const tag = node.tagName, block = !display.startsWith("inline") && display !== "contents" && display !== "ruby";
    if (block) flush();
    else if (display !== "inline" && run) run.text += " ";
    if (tag === "BR" && run) run.text += " ";
    const shadow = shadowOf(node), folded = tag === "DETAILS" && !node.open;
    if (shadow) survey(shadow);
    forChildren(node, child => { if (!folded || child.tagName === "SUMMARY") walk(child, context); });
    if (block) flush();
  }

  function walkFrame(node, context, style) {
    flush();
    const inside = documentIn(node), foreign = !inside && node.tagName !== "EMBED" && node.contentWindow, box = rectOf(node);
    if (!inside && !foreign) {  // what stands in an object is drawn where that cannot be
      if (node.tagName === "OBJECT" && [...node.childNodes].some(child => !isEmpty(rectOf(child)))) walkChildren(node, context, "block");
      return;
    }
    const root = inside && (inside.body || inside.documentElement);
    if (style.visibility !== "visible" || isThin({width: node.clientWidth, height: node.clientHeight}) || isOutOfReach(box, context.bounds) ||
      (isThin(box) && isFlattened(node)) || (inside && !root)) return;
    if (!inside) {  // of another origin: its own script looks into it, see frames.py
      node.__wr1_frame = {generation: request.generation, node: state.nodes.length};
      return add(node, "frame", collapse(node.title), context, {origin: [context.x + box.left + node.clientLeft + parseFloat(style.paddingLeft),
        context.y + box.top + node.clientTop + parseFloat(style.paddingTop)].map(Math.round)});
    }
    const [x, y] = frameOrigin(inside.defaultView), dx = x - context.x, dy = y - context.y;
    const clip = [context.bounds.clip[0] - dx, context.bounds.clip[1] - dy, context.bounds.clip[2] - dx, context.bounds.clip[3] - dy];
    scrolled = scrolled || inside.defaultView.scrollY > 0;
    survey(inside);
    walk(root, {...context, x, y, ...boundsOf(inside.defaultView, clip), style: null, around: null, owner: null});
    flush();
  }

  function boundsOf(view, clip) {  // of a frame's document, and of what is fixed to its screen
    const screen = [0, 0, view.innerWidth, view.innerHeight], seen = clip ? within(screen, clip) : screen;
    return {view, ground: documentGround(view), bounds: {node: null, clip: seen, hard: null, start: documentStart(view), outer: null},
      screen: {node: null, clip: seen, hard: screen, start: [0, 0], outer: null}};
  }

  function tellTargets() {  // of links that may be the same as another; one of that label may stand in another frame's observation
    const whole = window === window.parent && !state.elements.some(element => element.role === "frame"), labels = new Map();
    for (const {role, label} of state.elements) if (role === "link") labels.set(label, (labels.get(label) || 0) + 1);
    state.elements.forEach((element, i) => {
      const target = element.role === "link" && !(whole && labels.get(element.label) === 1) && state.nodes[i].node.href;
      if (typeof target === "string" && target) element.target = target;  // of a drawing's link it is an object
    });
  }

  function survey(root) {  // what can be asked once for a whole document or shadow root
    if (hidden) for (const node of root.querySelectorAll(hidden)) unwanted.add(node);
    state.inert = state.inert || root.querySelector("[inert]") !== null;
  }

  survey(document);
  if (document.body) walk(document.body, {x: 0, y: 0, ...boundsOf(window, null), fixed: false, row: null, owner: null, heading: false, silent: false,
    style: null, opacity: 1, around: null, told: null});
  flush();
  for (const element of state.elements) if (rows[element.row] < 2) element.row = undefined;
  state.boxes.clear();
  tellTargets();
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
    } else if (view.document.readyState !== "complete" && (view.document.querySelector("object[data],embed[src]") ||
      [...view.document.querySelectorAll("link[rel~=stylesheet]")].some(sheet => !sheet.sheet && !sheet.disabled))) busy.wait = Math.max(busy.wait, 10);
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

const state = {generation: 0, nodes: [], elements: [], spoken: new Set(), anchor: null, inert: false, boxes: new Map()};
