// Follows places.js in the same function: text that is drawn, but in no colour or in that of what stands behind it.

const CLEAR = "rgba(0, 0, 0, 0)";
const PICTURES = new Set(["IMG", "VIDEO", "CANVAS", "IFRAME", "FRAME", "OBJECT", "EMBED", "INPUT", "SELECT", "TEXTAREA", "BUTTON", "PROGRESS", "METER"]);

function isDrawnInVain(node, context) {  // `context`: of the element that the text stands in
  const style = context.style, colour = style.webkitTextFillColor;
  if (colour.startsWith("rgb(")) return colour === groundOf(context) && isDrowned(node, colour);
  return isTransparent(node, style, colour);
}

function isTransparent(node, style, colour) {  // colours that stand behind it may be cut to its letters
  if (!(parseFloat((colour.match(/[,/] ?([\d.]+)\)$/) || [])[1]) < FAINT)) return false;
  if (style.textShadow !== "none" || style.webkitTextStrokeWidth !== "0px") return false;
  for (let around = node; around; around = parentOf(around))
    if (around.nodeType === 1 && around.ownerDocument.defaultView.getComputedStyle(around).backgroundClip.includes("text")) return false;
  return true;
}

function groundOf(context) {  // the nearest background colour; most texts have another, and then nothing more is asked
  if (context.ground === null) {
    const own = context.style.backgroundColor;
    context.ground = own === CLEAR ? groundOf(context.around) : own;
  }
  return context.ground;
}

function documentGround(view) {  // "": not known, as in a frame through which the page around it may be seen
  const root = view.document.documentElement, style = root && view.getComputedStyle(root);
  if (!style || style.backgroundColor !== CLEAR) return style?.backgroundColor || "";
  const dark = style.colorScheme.includes("dark") || view.document.querySelector("meta[name=color-scheme][content*=dark i]");
  return view === view.parent && !dark ? "rgb(255, 255, 255)" : "";
}

function isDrowned(node, colour) {  // is it certain that nothing else stands between the text and its ground?
  const rect = rectOf(node), around = new Set();
  let found = false;
  for (let holder = parentOf(node); holder; holder = parentOf(holder)) {
    if (holder.nodeType !== 1) continue;
    around.add(holder);
    if (found) continue;
    const style = holder.ownerDocument.defaultView.getComputedStyle(holder), clear = style.backgroundColor === CLEAR;
    if (changesColours(holder, style) || (clear && holder.matches(":modal,:popover-open,:fullscreen"))) return false;
    if (clear) continue;
    if (style.backgroundClip !== "border-box" || !(fillsCanvas(holder) || holds(holder.getBoundingClientRect(), rect))) return false;
    found = true;
  }
  return !boxesOf(node.ownerDocument).some(box => overlap(box, rect) && !around.has(box.node) && isPainted(box.node));
}

function fillsCanvas(node) {  // does its background go on beyond its box?
  if (node.tagName !== "BODY") return node.tagName === "HTML";
  const style = node.ownerDocument.defaultView.getComputedStyle(node.parentElement);
  return style.backgroundColor === CLEAR && style.backgroundImage === "none";
}

function changesColours(node, style) {  // of what it holds, or between that and its background
  if (node.namespaceURI.endsWith("svg") || style.mixBlendMode !== "normal" || style.filter !== "none" || style.backdropFilter !== "none") return true;
  if (style.textShadow !== "none" || style.webkitTextStrokeWidth !== "0px" || style.backgroundImage !== "none" || style.boxShadow.includes("inset"))
    return true;
  const view = node.ownerDocument.defaultView, own = style.webkitTextFillColor;
  return ["::first-line", "::first-letter"].some(part => view.getComputedStyle(node, part).webkitTextFillColor !== own) || hasPaintedParts(node);
}

function hasPaintedParts(node) {
  return ["::before", "::after"].some(part => {
    const style = node.ownerDocument.defaultView.getComputedStyle(node, part);
    return style.content !== "none" && style.content !== "normal" && (style.content.includes("(") || hasPaint(style));
  });
}

const hasPaint = style => style.backgroundColor !== CLEAR || style.backgroundImage !== "none" || style.boxShadow !== "none" || /[1-9]/.test(style.borderWidth);

function isPainted(node) {  // is anything drawn there but text?
  const style = node.ownerDocument.defaultView.getComputedStyle(node);
  if (style.visibility !== "visible") return false;
  return PICTURES.has(node.tagName) || node.namespaceURI.endsWith("svg") || hasPaint(style) || hasPaintedParts(node);
}

function boxesOf(page) {  // of all elements of a document
  if (!state.boxes.has(page)) state.boxes.set(page, [...everyElement(page)].filter(node => node.ownerDocument === page).map(node => {
    const {left, top, right, bottom} = node.getBoundingClientRect();
    return {node, left, top, right, bottom};
  }));
  return state.boxes.get(page);
}

const holds = (box, rect) => box.left <= rect.left + 1 && box.top <= rect.top + 1 && box.right >= rect.right - 1 && box.bottom >= rect.bottom - 1;
const overlap = (a, b) => Math.max(a.left, b.left) < Math.min(a.right, b.right) && Math.max(a.top, b.top) < Math.min(a.bottom, b.bottom);
