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
  if (!isShown(place)) return {error: "is not visible now"};
  return {...entry, place};
}

function locate(request) {  // the point to click, after scrolling it into view where needed
  const found = kept(request);
  if (found.error) return found;
  let point = clickPoint(found.place, true);
  if (!("x" in point)) {
    for (let node = found.place; node; node = node.ownerDocument.defaultView.frameElement)
      node.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
    point = clickPoint(found.place, true);
  }
  if (!("x" in point)) {
    const over = point.blocked;
    const name = over && (collapse(visibleText(over)) || over.getAttribute("aria-label") || over.tagName.toLowerCase()).slice(0, 60);
    return {error: over ? `is covered by "${name}"` : "cannot be reached on the page"};
  }
  return {...point, tag: found.node.tagName, type: found.node.type || "", role: found.role, readonly: Boolean(found.node.readOnly),
    multiline: found.node.tagName === "TEXTAREA" || found.node.isContentEditable};
}

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
  let at = names.indexOf(wanted);
  if (at < 0) at = names.findIndex(name => name.toLowerCase() === low);
  if (at < 0) at = options.findIndex(option => option.value.toLowerCase() === low);
  if (at < 0) return {error: `has no option "${wanted}"; its options are ${names.slice(0, 50).join(" | ")}`};
  if (options[at].matches(":disabled")) return {error: `has the option "${names[at]}", but that is disabled`};
  node.focus();
  if (!options[at].selected) {
    options[at].selected = true;
    announce(node);
  }
  return {};
}

function scroll(request) {  // to a node that the last observation left out, or by most of a screen
  const latest = window.__wr1;
  const entry = request.node === null || latest?.generation !== request.generation ? null : latest.nodes[request.node];
  if (entry) {
    const place = entry.via || entry.node, element = place.nodeType === 1 ? place : place.parentElement;
    element?.scrollIntoView({block: "start", inline: "nearest", behavior: "instant"});
    latest.anchor = entry.node;
    return {moved: true};
  }
  if (latest && !request.cut) latest.anchor = null;
  const down = request.down ? 1 : -1;
  function room(node) {
    return down > 0 ? node.scrollHeight - node.clientHeight - node.scrollTop > 1 : node.scrollTop > 1;
  }
  const main = document.scrollingElement || document.documentElement;
  let best = getComputedStyle(main).overflowY !== "hidden" && getComputedStyle(document.body || main).overflowY !== "hidden" && room(main) ? main : null;
  if (!best) {
    let size = 0;
    for (const node of document.querySelectorAll("*")) {
      if (node === main || node.scrollHeight <= node.clientHeight + 1 || !/auto|scroll/.test(getComputedStyle(node).overflowY) || !room(node) || !isShown(node)) continue;
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

const answer = JSON.stringify({observe, locate, focus, set, read, select, scroll}[request.call](request));
return request.call === "scroll" ? drawn().then(() => answer) : answer;
