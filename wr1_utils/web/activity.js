// Runs in every document before its own scripts: notes what will still change the page (short timers, requests, navigations,
// windows being opened), so that a turn can end as soon as the page is quiet. What repeats for ever is not waited for: a timer
// set inside a timer inside a timer, anything begun by an interval, and timers longer than SHORT milliseconds.
(() => {
  if (window.__wr1_activity) return;
  const SHORT = 250, DEPTH = 3;
  const timers = new Map(), requests = new Set();
  let depth = 0;
  const own = {
    listening: new WeakSet(), closed: new WeakMap() /* element -> {shadowRoot} */, navigating: false, opened: 0, tabs: [],
    pending() {  // milliseconds until the next thing that is worth waiting for; 0: quiet
      let wait = requests.size ? 20 : 0;
      const now = performance.now();
      for (const due of timers.values()) wait = Math.max(wait, due - now, 1);
      if (window.jQuery?.timers?.length) wait = Math.max(wait, 20);  // something fades or slides; jQuery does not ask whether less motion is wished for
      return wait;
    },
  };
  Object.defineProperty(window, "__wr1_activity", {value: own});

  const {setTimeout: later, clearTimeout: forget, setInterval: repeat, open, fetch} = window;
  function at(level, work, self, args) {
    const before = depth;
    depth = level;
    try { return work.apply(self, args); } finally { depth = before; }
  }
  window.setTimeout = function (work, delay, ...args) {
    const level = depth + 1;
    if (typeof work !== "function") return later.call(window, work, delay, ...args);
    const counts = !(delay > SHORT) && level <= DEPTH;
    const id = later.call(window, function () {
      timers.delete(id);
      return at(level, work, this, args);
    }, delay);
    if (counts) timers.set(id, performance.now() + (delay > 0 ? +delay : 0));
    return id;
  };
  window.clearTimeout = function (id) { timers.delete(id); return forget.call(window, id); };
  window.clearInterval = window.clearTimeout;
  window.setInterval = function (work, delay, ...args) {
    if (typeof work !== "function") return repeat.call(window, work, delay, ...args);
    return repeat.call(window, function () { return at(DEPTH + 1, work, this, args); }, delay);
  };
  window.open = function (...args) {
    const name = args[1] === undefined ? "" : String(args[1]), tab = open.apply(window, args);
    if ((name === "" || name === "_blank") && (tab || /noopener|noreferrer/.test(args[2]))) own.opened += 1;  // null: the browser refused
    if (tab) own.tabs.push(tab);
    return tab;
  };
  const counted = new WeakSet();  // responses whose body is waited for too
  function wait(promise) {
    requests.add(promise);
    const end = () => later.call(window, () => requests.delete(promise), 0);
    promise.then(end, end);
    return promise;
  }
  if (fetch) window.fetch = function (...args) {
    const answer = fetch.apply(window, args);
    if (depth > DEPTH) return answer;
    answer.then(response => counted.add(response), () => {});
    return wait(answer);
  };
  for (const read of ["text", "json", "arrayBuffer", "blob", "formData"]) {
    const own = Response.prototype[read];
    Response.prototype[read] = function (...args) {
      const body = own.apply(this, args);
      return counted.has(this) ? wait(body) : body;
    };
  }
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (...args) {
    if (depth <= DEPTH) {
      requests.add(this);
      this.addEventListener("loadend", () => later.call(window, () => requests.delete(this), 0));
    }
    try { return send.apply(this, args); } catch (error) { requests.delete(this); throw error; }
  };

  if (window.navigation) {
    navigation.addEventListener("navigate", event => {
      if (event.destination.sameDocument || event.downloadRequest !== null || !/^(https?|about|data|blob|file):/.test(event.destination.url)) return;
      own.navigating = true;
      later.call(window, () => { if (event.defaultPrevented) own.navigating = false; }, 0);
    });
    navigation.addEventListener("currententrychange", () => { own.navigating = false; });  // the page's script has shown the next page itself
  }
  addEventListener("pageshow", event => { if (event.persisted) own.navigating = false; });  // back from the cache, as it was left
  addEventListener("submit", () => window.setTimeout(() => {}, 5), true);  // a form's navigation begins in a later task
  const submit = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function () { window.setTimeout(() => {}, 5); return submit.call(this); };
  addEventListener("click", event => {
    const link = event.composedPath().find(node => node.tagName === "A" && node.href && node.target === "_blank");
    if (link) window.setTimeout(() => { if (!event.defaultPrevented && !link.hasAttribute("download")) own.opened += 1; }, 0);
  }, true);

  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    if (root.mode === "closed") own.closed.set(this, {shadowRoot: root});
    return root;
  };
  const internals = HTMLElement.prototype.attachInternals;
  HTMLElement.prototype.attachInternals = function () {  // how an element reaches a closed root that its HTML declares
    const inner = internals.call(this);
    if (!own.closed.has(this)) own.closed.set(this, inner);
    return inner;
  };
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if ((type === "click" || type === "mousedown" || type === "mouseup" || type === "pointerdown") && this instanceof Element) own.listening.add(this);
    return listen.call(this, type, ...rest);
  };
})();
