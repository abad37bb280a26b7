// Body of one function with `request` in scope: places.js, colours.js, names.js, observation.js and actions.js, one after the other. This part: where
// things are, what would get a click there, and what nobody can see.

const FAINT = 0.05;  // what is less opaque than this is not seen
const FLAT = 0.001;  // nor is what is scaled to less than this share of its area
const HOLDERS = new Set(["IFRAME", "FRAME", "OBJECT", "EMBED"]);  // of a document

function frameOrigin(view) {  // where the frame's viewport begins in the page's viewport
  let x = 0, y = 0;
  for (let frame = view.frameElement; frame; frame = frame.ownerDocument.defaultView.frameElement) {
    const rect = frame.getBoundingClientRect(), style = frame.ownerDocument.defaultView.getComputedStyle(frame);
    x += rect.left + frame.clientLeft + parseFloat(style.paddingLeft);
    y += rect.top + frame.clientTop + parseFloat(style.paddingTop);
  }
  return [x, y];
}

const range = document.createRange();

function rectOf(node) {
  if (node.nodeType === 1) return node.tagName === "AREA" ? areaRect(node) : node.getBoundingClientRect();
  range.selectNodeContents(node);
  return range.getBoundingClientRect();
}

function imageOf(area) {
  const name = area.closest("map")?.name;
  return name ? area.getRootNode().querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
}

function areaRect(area) {  // around its shape on the image; without an image, empty
  const image = imageOf(area);
  if (!image) return new DOMRect();
  const box = image.getBoundingClientRect(), style = image.ownerDocument.defaultView.getComputedStyle(image);
  const x = box.left + image.clientLeft + parseFloat(style.paddingLeft), y = box.top + image.clientTop + parseFloat(style.paddingTop);
  const shape = area.shape.toLowerCase(), given = area.coords.split(/[\s,;]+/).map(parseFloat).filter(Number.isFinite);
  if (shape === "default") return box;
  const [cx, cy, r] = given, coords = shape.startsWith("circ") ? [cx - r, cy - r, cx + r, cy + r] : given;
  const xs = coords.filter((_, i) => i % 2 === 0), ys = coords.filter((_, i) => i % 2 === 1);
  if (!ys.length || coords.some(Number.isNaN)) return new DOMRect();
  return new DOMRect(x + Math.min(...xs), y + Math.min(...ys), Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
}

function bringIntoView(target) {  // in its frame, and that in its own
  for (let node = target; node; node = node.ownerDocument.defaultView.frameElement) {
    const image = node.tagName === "AREA" ? imageOf(node) : null;
    (image || node).scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
    if (image) {
      const rect = areaRect(node), view = node.ownerDocument.defaultView;
      if (rect.top < 0 || rect.bottom > view.innerHeight) view.scrollBy({top: (rect.top + rect.bottom - view.innerHeight) / 2, behavior: "instant"});
    }
  }
}

function documentIn(holder) {  // null: it holds none, or one of another origin
  if (holder.tagName !== "EMBED") return holder.contentDocument;
  const view = holder.ownerDocument.defaultView;
  for (let i = 0; i < view.length; i++) {
    try { if (view[i].frameElement === holder) return view[i].document; } catch (error) { continue; }  // of another origin
  }
  return null;
}

const HOSTS = new Set(["ARTICLE", "ASIDE", "BLOCKQUOTE", "BODY", "DIV", "FOOTER", "H1", "H2", "H3", "H4", "H5", "H6", "HEADER", "MAIN", "NAV", "P", "SECTION",
  "SPAN"]);  // of shadow roots, besides elements with names of their own

function shadowOf(node) {
  const tag = node.tagName;
  if (!HOSTS.has(tag) && !tag.includes("-")) return null;
  return node.shadowRoot || node.ownerDocument.defaultView.__wr1_activity?.closed.get(node)?.shadowRoot || null;
}

const isFolded = node => node.parentNode?.tagName === "DETAILS" && !node.parentNode.open && node.tagName !== "SUMMARY";
const isEmpty = rect => rect.width === 0 || rect.height === 0;
const isThin = rect => rect.width <= 1 || rect.height <= 1;
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

function clickPoint(target) {  // {x, y} of the page's viewport, or {blocked: element or undefined}
  let blocked;
  for (const rect of target.tagName === "AREA" ? [areaRect(target)] : [...target.getClientRects()].slice(0, 4)) {
    if (rect.width <= 0 || rect.height <= 0) continue;
    const view = target.ownerDocument.defaultView;
    const left = Math.max(rect.left, 0), right = Math.min(rect.right, view.innerWidth);
    const top = Math.max(rect.top, 0), bottom = Math.min(rect.bottom, view.innerHeight);
    if (right <= left || bottom <= top) continue;
    for (const [u, v] of [[.5, .5], [.2, .5], [.8, .5], [.5, .2], [.5, .8]]) {
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

// ---- what is seen

const isShown = node => node.checkVisibility({opacityProperty: true, visibilityProperty: true});

function forChildren(node, work) {
  const assigned = node.tagName === "SLOT" ? node.assignedNodes() : [];
  if (assigned.length) assigned.forEach(child => work(child));
  else for (let child = (shadowOf(node) || node).firstChild; child; child = child.nextSibling) work(child);
}

// Every property of a computed style that is asked for costs nearly a microsecond, every rectangle three: each is read once, and only where it
// can matter.
function isHiddenBox(node, box, position, style) {  // with all that it holds, if it is not flat; `box`: its rectangle where it cuts what it holds, or null
  const clipPath = style.clipPath;
  if (clipPath !== "none" && clipsAll(clipPath, node)) return true;
  if (box && isThin(box)) return true;
  return (position === "absolute" || position === "fixed") && style.clip === "rect(0px, 0px, 0px, 0px)";
}

function clipsAll(clipPath, node) {
  const [, shape, inner] = clipPath.match(/^(\w+)\((.*?)\)/) || [], parts = (inner || "").split(" round ")[0].split(" ");
  if (shape === "circle" || shape === "ellipse") return parts.slice(0, shape === "circle" ? 1 : 2).some(radius => parseFloat(radius) === 0);
  if (shape === "polygon") {
    const points = inner.split(",").map(point => point.trim().split(" "));
    return [0, 1].some(axis => points.every(point => point[axis] === points[0][axis]));
  }
  if (shape !== "inset") return false;
  const [top, right = top, bottom = top, left = right] = parts, rect = node.getBoundingClientRect();
  const size = (length, whole) => length.endsWith("%") ? parseFloat(length) / 100 * whole : parseFloat(length);
  return size(top, rect.height) + size(bottom, rect.height) >= rect.height || size(left, rect.width) + size(right, rect.width) >= rect.width;
}

// The rectangle of a box that cuts off what goes beyond it.
const cuttingBox = (node, overflowX) => overflowX === "visible" || UNCUT.has(node.tagName) ? null : node.getBoundingClientRect();
const UNCUT = new Set(["BODY", "HTML"]);

function isFlat(node, display, style) {  // scaled to nothing
  if (display === "inline" || display === "contents" || UNCUT.has(node.tagName) || !isThin(node.getBoundingClientRect())) return false;
  const matrix = new DOMMatrix(style.transform), [x, y = x] = style.scale === "none" ? [1] : style.scale.split(" ").map(parseFloat);
  return Math.abs((matrix.m11 * matrix.m22 - matrix.m12 * matrix.m21) * x * y) < FLAT;
}

function isFlattened(node) {  // it, or what it stands in; only what is thin can be
  for (let around = node; around; around = parentOf(around)) {
    if (around.nodeType !== 1) continue;
    const style = around.ownerDocument.defaultView.getComputedStyle(around);
    if (isFlat(around, style.display, style)) return true;
  }
  return false;
}

function documentStart(view) {  // left and top of what can be scrolled to
  const root = view.document.scrollingElement, body = view.document.body;
  const leftwards = [root, body].some(node => node && view.getComputedStyle(node).direction === "rtl");
  const left = leftwards && root ? Math.min(0, root.clientWidth - root.scrollWidth) : 0;  // read from right to left, it goes on to the left
  return [left - view.scrollX, -view.scrollY];
}

function scrollerStart(node, box, style) {
  const backwards = style.direction === "rtl" || style.writingMode !== "horizontal-tb" || style.flexDirection.endsWith("reverse") ? 1 : 0;
  return [box.left + node.clientLeft - node.scrollLeft - backwards * (node.scrollWidth - node.clientWidth),
    box.top + node.clientTop - node.scrollTop - backwards * (node.scrollHeight - node.clientHeight)];
}

// Bounds say what can be seen of what stands in them: {node: what sets them, clip: what is in view now, hard: what is cut off for ever or null,
// start: where scrolling begins, outer: those around}; edges are [left, top, right, bottom] in the frame's viewport.
const within = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
const isBeyond = (rect, edges) => rect.right <= edges[0] || rect.left >= edges[2] || rect.bottom <= edges[1] || rect.top >= edges[3];

function isOutOfReach(rect, {hard, start}) {  // can nobody scroll to it?
  if (isEmpty(rect)) return false;
  return rect.right <= start[0] || rect.bottom <= start[1] || (hard !== null && isBeyond(rect, hard));
}

function boundsAround(node, bounds) {  // of a box that is placed: it leaves what does not hold its containing block
  const holder = node.offsetParent;
  while (holder && bounds.node && bounds.node !== holder && holder.contains(bounds.node)) bounds = bounds.outer;
  return bounds;
}

function isSeen(node) {  // of a control
  if (!isShown(node)) return false;
  const view = node.ownerDocument.defaultView, style = view.getComputedStyle(node), rect = node.getBoundingClientRect();
  return style.opacity >= FAINT && !isThin(rect) && !isHiddenBox(node, null, style.position, style) &&
    ((rect.right > 0 && rect.bottom > 0) || !isOutOfReach(rect, {hard: null, start: documentStart(view)}));
}

function liesOver(node, style) {  // is it itself not to be seen, and takes the clicks on what is drawn in its place?
  const kinds = node.tagName === "SELECT" || (node.tagName === "INPUT" && /^(checkbox|radio|file)$/.test(node.type));
  return kinds && style.pointerEvents !== "none" && !isThin(node.getBoundingClientRect()) && ![...node.labels].some(isSeen);
}
