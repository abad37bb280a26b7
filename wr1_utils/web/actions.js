// Follows observation.js in the same function. Each answers {error: text for the agent} or what the action needs to go on.

function kept(request) {  // the node behind an id of the latest observation
  const latest = window.__wr1, entry = latest?.generation === request.generation ? latest.nodes[request.node] : null;
  if (!entry) return {error: "is no longer on the page"};
  const place = entry.via || entry.node;
  for (let node = place, view; node; node = view.frameElement) {
    view = node.ownerDocument.defaultView;
    if (!node.isConnected || !view) return {error: "is no longer on the page"};
  }
  if (isDisabled(entry.node) && request.call !== "read") return {error: "is disabled"};
  if (!place.checkVisibility({opacityProperty: !entry.over, visibilityProperty: true})) return {error: "is not visible now"};
  return {...entry, place};
}

function locate(request) {  // the point to click, after scrolling it into view where needed; around: the element's box, seen from there
  const found = kept(request);
  if (found.error) return found;
  let point = clickPoint(found.place);
  if (!("x" in point)) {
    bringIntoView(found.place);
    point = clickPoint(found.place);
  }
  if (!("x" in point)) {
    const over = point.blocked;
    return {error: over ? `is covered by "${shortName(over)}"` : "cannot be reached on the page"};
  }
  if (isFile(found.node)) return {error: "opens a file dialog, and there are no files to choose from"};
  const rect = rectOf(found.place), [dx, dy] = frameOrigin(found.place.ownerDocument.defaultView);
  const around = [rect.left + dx - point.x, rect.top + dy - point.y, rect.width, rect.height];
  return {...point, around, tag: found.node.tagName, type: found.node.type || "", role: found.role, readonly: Boolean(found.node.readOnly),
    multiline: found.node.tagName === "TEXTAREA" || found.node.isContentEditable};
}

function through(request) {  // a point of a frame of another origin as a point of this page, after scrolling it into view
  const found = kept(request);
  if (found.error) return found;
  const frame = found.node, view = frame.ownerDocument.defaultView, style = view.getComputedStyle(frame);
  const place = () => {
    const rect = frame.getBoundingClientRect();
    return [rect.left + frame.clientLeft + parseFloat(style.paddingLeft) + request.x, rect.top + frame.clientTop + parseFloat(style.paddingTop) + request.y];
  };
  let [x, y] = place();
  if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight) {
    frame.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
    [x, y] = place();
    if (y < 0 || y >= view.innerHeight) view.scrollBy({top: y - view.innerHeight / 2, behavior: "instant"});
    [x, y] = place();
  }
  const over = blocker(frame, x, y), [dx, dy] = frameOrigin(view);
  if (over === null) return {x: x + dx, y: y + dy};
  return {error: over ? `is covered by "${shortName(over)}"` : "cannot be reached on the page"};
}

const shortName = node => (collapse(visibleText(node)) || node.getAttribute("aria-label") || node.tagName.toLowerCase()).slice(0, 60);

function focus(request) {  // for typing: everything in the field is selected, so that what is typed replaces it
  const found = kept(request);
  if (found.error) return found;
  const node = found.node;
  if (node.getRootNode().activeElement !== node) node.focus();
  if (request.select && node.isContentEditable) node.ownerDocument.getSelection().selectAllChildren(node);
  else if (request.select && node.select) node.select();
  return {};
}

function announce(node) {
  for (const name of ["input", "change"]) node.dispatchEvent(new Event(name, {bubbles: true}));
}

function set(request) {  // a date, time, colour or range, which has no text to type into
  const found = kept(request);
  if (found.error) return found;
  const node = found.node, before = node.value;
  node.focus();
  Object.getOwnPropertyDescriptor(node.ownerDocument.defaultView.HTMLInputElement.prototype, "value").set.call(node, request.value);
  if (node.value !== before) announce(node);
  return {value: node.value};
}

function read(request) {
  const found = kept(request);
  return found.error ? {} : {value: valueOf(found.node, found.role)};
}

function select(request) {
  const found = kept(request);
  if (found.error) return found;
  const node = found.node;
  if (node.tagName !== "SELECT") return {error: "is no dropdown list; click it and then click the option"};
  const options = [...node.options], names = options.map(option => collapse(option.label));
  const wanted = collapse(request.option), low = wanted.toLowerCase();
  const fits = [option => collapse(option.label) === wanted, option => collapse(option.label).toLowerCase() === low,
    option => option.value.toLowerCase() === low];
  let at = -1;
  for (const enabled of [true, false])  // of two with one name, the one that can be chosen
    for (const fit of fits) if (at < 0) at = options.findIndex(option => fit(option) && !(enabled && option.matches(":disabled")));
  if (at < 0) return {error: `has no option "${wanted}"; its options are ${names.slice(0, 50).join(" | ")}`};
  if (options[at].matches(":disabled")) return {error: `has the option "${names[at]}", but that is disabled`};
  node.focus();
  if (node.multiple || !options[at].selected) {  // in a list of several, choosing a chosen one takes it back
    options[at].selected = !options[at].selected;
    announce(node);
  }
  return {};
}

function* everyElement(root) {  // with those of open shadow roots and of frames of the same origin
  for (const node of root.querySelectorAll("*")) {
    yield node;
    if (shadowOf(node)) yield* everyElement(shadowOf(node));
    if (HOLDERS.has(node.tagName) && documentIn(node)) yield* everyElement(documentIn(node));
  }
}

function scroll(request) {  // to a node that the last observation left out, or by most of a screen
  const latest = window.__wr1;
  const entry = request.node === null || latest?.generation !== request.generation ? null : latest.nodes[request.node];
  if (entry) {
    const place = entry.via || entry.node, element = place.nodeType === 1 ? place : place.parentElement;
    ((element?.tagName === "AREA" && imageOf(element)) || element)?.scrollIntoView({block: "start", inline: "nearest", behavior: "instant"});
    latest.anchor = entry.node;
    return {moved: true};
  }
  const down = request.down ? 1 : -1, end = latest?.nodes.at(request.down ? -1 : 0);
  if (latest && !request.cut) latest.anchor = null;
  else if (end && end.role !== "frame") latest.anchor = end.node;  // the text stays there, also when it gets shorter by a line
  function room(node) {
    return down > 0 ? node.scrollHeight - node.clientHeight - node.scrollTop > 1 : node.scrollTop > 1;
  }
  const main = document.scrollingElement || document.documentElement;
  let best = getComputedStyle(main).overflowY !== "hidden" && getComputedStyle(document.body || main).overflowY !== "hidden" && room(main) ? main : null;
  if (!best) {
    let size = 0;
    for (const node of everyElement(document)) {
      if (node === main || node.scrollHeight <= node.clientHeight + 1) continue;
      const own = node.ownerDocument, whole = node === own.scrollingElement;  // a frame's page scrolls unless it says otherwise
      const overflow = own.defaultView.getComputedStyle(node).overflowY;
      if (!(whole ? overflow !== "hidden" : /auto|scroll/.test(overflow)) || !room(node) || !isShown(node)) continue;
      if (node.clientWidth * node.clientHeight > size) { size = node.clientWidth * node.clientHeight; best = node; }
    }
  }
  if (!best) return {moved: false};
  best.scrollBy({top: down * best.clientHeight * 0.85, behavior: "instant"});
  return {moved: !request.cut};  // of a cut page the text already shows this end: scrolling only lets the page load more
}

function drawn() {  // when the page has heard that it was scrolled: it is told of it in its next frame, if it draws any
  return new Promise(done => { requestAnimationFrame(done); setTimeout(done, 300); });
}

function written(answer) {  // as JSON, also where the page's own scripts have changed how that is written
  const changed = [Object, Array, String, Number, Boolean].filter(kind => Object.hasOwn(kind.prototype, "toJSON"));
  const kept = changed.map(kind => kind.prototype.toJSON);
  for (const kind of changed) delete kind.prototype.toJSON;
  const text = JSON.stringify(answer);
  changed.forEach((kind, i) => { kind.prototype.toJSON = kept[i]; });
  return text;
}

const answer = written({observe, locate, through, focus, set, read, select, scroll}[request.call](request));
return request.call === "scroll" ? drawn().then(() => answer) : answer;
