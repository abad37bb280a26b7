// Follows colours.js in the same function: what things are, what they are called, and in which state they are.

const MAX_LABEL = 80;
const MAX_TEXT = 20000;  // characters of one text or value that leave the page
const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "OPTION", "OPTGROUP", "DATALIST", "CANVAS", "VIDEO", "AUDIO",
  "OBJECT", "EMBED", "TITLE", "DESC", "DEFS", "PARAM"].flatMap(name => [name, name.toLowerCase()]));  // in lower case: of drawings
const CONTROLS = "a[href],button,input:not([type=hidden]),select,textarea,[role=button],[role=link],[role=checkbox],[role=radio]," +
  "[role=switch],[role=combobox],[role=option],[role=tab],[role=menuitem],[contenteditable=''],[contenteditable=true]," +
  "[contenteditable=plaintext-only],[onclick],summary,iframe";
const FIELDS = "input:not([type=hidden]),select,textarea";
const ROLES = {button: "button", combobox: "button", link: "link", checkbox: "checkbox", switch: "checkbox", radio: "radio", tab: "tab", option: "option",
  menuitem: "menuitem", menuitemcheckbox: "menuitem", menuitemradio: "menuitem", treeitem: "menuitem"};
const SPEECHLESS = new Set(["INPUT", "SELECT", "TEXTAREA", "BUTTON", "PROGRESS", "METER"]);  // what they say is their name or value
const PASSIVE = new Set(["BODY", "HTML", "FORM"]);
const FOCUSABLE = ["gridcell", "columnheader", "rowheader", "slider", "spinbutton"];  // clickable where they can have the focus
const collapse = text => !text ? "" : /^\s|\s\s|[^\S ]|\s$/.test(text) ? text.replace(/\s+/g, " ").trim() : text;
const speaks = text => /[a-z0-9]/i.test(text) || /[\p{L}\p{N}]/u.test(text);  // most are told by the first, which is faster by far

function visibleText(node, skipControls, field) {  // of a node and what it contains, without the labels of other fields than `field`
  if (isFolded(node)) return "";
  if (node.nodeType === 3) return isShown(node.parentElement || node.getRootNode().host) ? node.data : "";
  if (node.nodeType !== 1 || SKIP.has(node.tagName)) return "";
  if (node.matches("progress,meter")) return " ";
  if (skipControls && node.matches("input,select,textarea,button")) return " ";
  if (field && node.tagName === "LABEL" && node.control && node.control !== field) return " ";
  const style = node.ownerDocument.defaultView.getComputedStyle(node), display = style.display;
  if (display === "none" || style.opacity < FAINT || (style.fontSize === "0px" && !node.firstElementChild)) return "";
  const boxed = display !== "inline" && display !== "contents";
  if (isHiddenBox(node, boxed ? cuttingBox(node, style.overflowX) : null, boxed ? style.position : "static", style) || isFlat(node, display, style)) return "";
  return textIn(node, display, skipControls, field);
}

function textIn(node, display, skipControls, field) {
  let text = "";
  forChildren(node, child => { text += visibleText(child, skipControls, field); });
  return display.startsWith("inline") || display === "contents" ? text : ` ${text} `;
}

function seenText(node, display, style) {  // visibleText(node, true) of an element that is known to be seen
  if (SPEECHLESS.has(node.tagName)) return " ";
  if (style.fontSize === "0px" && !node.firstElementChild) return "";
  const only = node.firstChild, plain = only?.nodeType === 3 && !only.nextSibling && node.tagName !== "DETAILS" && !shadowOf(node);
  if (!plain || !node.checkVisibility()) return textIn(node, display, true);
  return display.startsWith("inline") ? only.data : ` ${only.data} `;
}

function heardText(node, whole = node) {  // also what only screen readers say, but not what controls within hold
  if (node.nodeType === 3) return node.data;
  if (node.nodeType !== 1 || SKIP.has(node.tagName) || (node !== whole && node.matches("input,select,textarea,button"))) return " ";
  if (node !== whole) {
    const style = node.ownerDocument.defaultView.getComputedStyle(node);
    if (style.opacity < FAINT || isFlat(node, style.display, style)) return "";  // a tip that is not open
  }
  let text = "";
  for (let child = node.firstChild; child; child = child.nextSibling) text += heardText(child, whole);
  return text;
}

function referenced(node) {
  const given = node.getAttribute("aria-labelledby"), ids = given ? given.split(/\s+/).filter(Boolean) : [];
  return collapse(ids.map(id => node.getRootNode().getElementById?.(id)?.textContent || "").join(" "));
}

function contentName(node, text, role) {  // of a link, button, tab and the like; `text`: what is seen of it
  if (speaks(text)) return text;
  const given = referenced(node) || collapse(node.getAttribute("aria-label")) || (node.firstElementChild && collapse(altsIn(node))) || collapse(node.alt) ||
    collapse(node.getAttribute("title")) || (node.firstElementChild && collapse(drawnName(node)));
  if (given) return given;
  const all = node.textContent, hides = role === "clickable" && speaks(all), heard = hides ? "" : heardText(node);  // the hidden side of a card is no name
  return (speaks(heard) && collapse(heard)) || collapse(text) || (!hides && collapse(all)) || (node.namespaceURI.endsWith("svg") ? node.tagName : "");
}

const altsIn = node => [...node.querySelectorAll("img[alt]")].map(image => collapse(image.alt)).filter(Boolean).join(" ");
const drawnName = node => node.querySelector("svg title")?.textContent || node.querySelector("svg[aria-label]")?.getAttribute("aria-label");

function labelsOf(node) {  // the outermost ones; of fields with one id, each has its own
  const labels = node.labels?.length ? [...node.labels] : [];
  if (labels.length === 1 || (!labels.length && !node.id)) return labels;
  const root = node.getRootNode(), twins = node.id ? [...root.querySelectorAll(`#${CSS.escape(node.id)}`)] : [];
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
  const name = (shared && textBefore(node, around)) || collapse(labels.map(label => visibleText(label, true, node)).join(" ")) ||
    collapse(labels.map(label => label.matches("label *") ? "" : heardText(label)).join(" ")) || referenced(node);
  if (name) return name;
  const box = node.matches("[type=checkbox],[type=radio],[role=checkbox],[role=radio],[role=switch]");
  const after = node.nextSibling;
  if (box && after?.nodeType === 3 && speaks(after.data)) {
    state.spoken.add(after);
    return collapse(after.data);
  }
  return collapse(node.getAttribute("aria-label")) || collapse(node.getAttribute("placeholder")) || collapse(node.getAttribute("aria-placeholder")) ||
    collapse(node.getAttribute("title")) || (node.tagName === "BODY" && collapse(node.ownerDocument.defaultView.frameElement?.title)) ||
    (box && !node.matches("input") && collapse(visibleText(node))) || collapse(before) || collapse(node.getAttribute("name"));
}

function nativeRole(node) {
  switch (node.tagName) {
    case "A": case "AREA": return node.hasAttribute("href") ? "link" : null;
    case "BUTTON": case "SUMMARY": return "button";
    case "SELECT": return "select";
    case "TEXTAREA": return "textbox";
    case "PROGRESS": case "METER": return node.tagName.toLowerCase();
    case "INPUT": switch (node.type) {
      case "hidden": return null;
      case "checkbox": case "radio": return node.type;
      case "submit": case "button": case "reset": case "image": case "file": return "button";
      default: return "textbox";
    }
  }
  return null;
}

function roleOf(node, says, style, around) {  // `says`: its attribute role; `around`: the style of what it stands in
  const given = says ? says.trim().split(" ")[0] : "", native = nativeRole(node);
  if (!native && node.isContentEditable && (!node.parentElement?.isContentEditable || node.tagName === "BODY")) return "textbox";
  if (native && !(given in ROLES && native !== "textbox" && native !== "select")) return native;
  if (given in ROLES) return ROLES[given];
  if ((given === "progressbar" || given === "meter") && !visibleText(node).trim()) return given === "meter" ? "meter" : "progress";
  if (FOCUSABLE.includes(given) && node.hasAttribute("tabindex")) return "clickable";
  if (PASSIVE.has(node.tagName) || (node.tagName === "LABEL" && node.control)) return null;
  const points = style.cursor === "pointer" && around?.cursor !== "pointer";  // the pointer says that a click does something, and said it nowhere around
  if (points || node.onclick || node.hasAttribute("onclick")) return node.tagName === "A" ? "link" : "clickable";
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

const STATED = ":checked,:indeterminate,:disabled,summary,[aria-checked],[aria-selected],[aria-current],[aria-expanded],[aria-pressed]," +
  "[aria-readonly],[aria-disabled]";  // whatever has a state, but for what a script has said of an element of its own

function stateOf(node, role) {
  if (!node.checked && !node.indeterminate && !node.readOnly && !state.inert && !node.matches(STATED)) return [];
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

function shareOf(node) {  // how far a bar goes; null: it does not say
  const number = name => parseFloat(node.getAttribute(`aria-value${name}`));
  const [now, low, high] = node.tagName === "PROGRESS" ? [node.position, 0, 1] : node.tagName === "METER" ? [node.value, node.min, node.max] :
    [number("now"), number("min") || 0, number("max") || 100];
  const share = Math.round(100 * (now - low) / (high - low));
  return node.getAttribute("aria-valuetext") || (share >= 0 ? `${share}%` : null);
}

function valueOf(node, role) {
  if (role === "progress" || role === "meter") return shareOf(node);
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

