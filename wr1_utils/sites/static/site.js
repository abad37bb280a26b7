// Forms check themselves before they are sent; the server checks again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  for (const field of form.elements) {
    if (field.dataset.check && !new RegExp(`^(?:${field.dataset.check})$`).test(field.value.trim())) {
      event.preventDefault();
      const error = document.querySelector("p.error");
      error.textContent = field.dataset.message;
      error.hidden = false;
      field.focus();
      return;
    }
  }
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) event.preventDefault();
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});
// The forum: a button opens and closes the replies to a comment; the address of a comment opens the replies it is among.
function toggleReplies(button, open) {
  document.getElementById(button.dataset.replies).hidden = !open;
  button.setAttribute("aria-expanded", open);
}
function openComment() {
  const comment = document.getElementById(location.hash.slice(1));
  const button = document.querySelector(`[data-replies="${comment?.closest(".replies")?.id}"]`);
  if (!button) return;
  toggleReplies(button, true);
  comment.scrollIntoView({ block: "center" });
}
openComment();
window.addEventListener("hashchange", openComment);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-replies]");
  if (button) toggleReplies(button, document.getElementById(button.dataset.replies).hidden);
});
// Its search field names forums while one types.
document.addEventListener("input", async (event) => {
  const field = event.target, list = document.getElementById(field.dataset.forumNames), text = field.value;
  if (!list) return;
  const names = text.trim() ? await (await fetch(`/suggest?q=${encodeURIComponent(text)}`)).json() : [];
  if (field.value !== text) return;
  const link = (name) => Object.assign(document.createElement("a"), { href: `/f/${name}`, textContent: `f/${name}` });
  list.replaceChildren(...names.map(link));
  list.hidden = !names.length;
});
// Code hosting: what a filter does not use stays out of the address.
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("form.filters")) return;
  for (const [name, value] of [...event.formData]) if (!value) event.formData.delete(name);
});
// The map and the wiki: search fields offer names. data-suggest: the address that answers ?q= with a list; data-pick="submit": picking sends.
document.addEventListener("input", (event) => {
  const field = event.target, text = field.value;
  if (!field.dataset.suggest) return;
  clearTimeout(field.suggesting);
  field.suggesting = setTimeout(async () => {
    const names = text.trim() ? await (await fetch(`${field.dataset.suggest}?q=${encodeURIComponent(text)}`)).json() : [];
    if (field.value === text) showSuggestions(field, names);
  }, 80);
});
document.addEventListener("focusout", (event) => {
  if (event.target.dataset.suggest) showSuggestions(event.target, []);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.dataset.suggest) showSuggestions(event.target, []);
});
function showSuggestions(field, names) {
  document.querySelector(".suggestions")?.remove();
  if (!names.length || document.activeElement !== field) return;
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  for (const name of names) {
    const option = document.createElement("li");
    option.setAttribute("role", "option");
    option.textContent = name;
    option.addEventListener("mousedown", (event) => event.preventDefault());   // the field keeps the focus
    option.addEventListener("click", () => {
      field.value = name;
      list.remove();
      if (field.dataset.pick === "submit") field.form.requestSubmit();
    });
    list.append(option);
  }
  (field.closest("label") || field).after(list);
}
// The map, data-copy: the field whose text goes to the clipboard.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  document.querySelector(button.dataset.copy).select();
  navigator.clipboard?.writeText(document.querySelector(button.dataset.copy).value).catch(() => {});
  button.parentElement.querySelector("[role=status]").textContent = "Copied.";
});
// The back office: menus that drop down, tabs that show one part of a page, and buttons that fill in a period.
function closeMenus(except) {
  for (const button of document.querySelectorAll("[data-menu]")) {
    const open = button === except && button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", open);
    button.nextElementSibling.hidden = !open;
  }
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  closeMenus(button);
  if (button?.dataset.tab) {
    for (const tab of button.parentElement.children) {
      tab.setAttribute("aria-selected", tab === button);
      document.getElementById(tab.dataset.tab).hidden = tab !== button;
    }
  }
  if (button?.dataset.from) {
    button.form.elements.from.value = button.dataset.from;
    button.form.elements.to.value = button.dataset.to;
    button.form.requestSubmit();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus(null);
});
// Code hosting, data-card: the address of what is shown while the mouse is on a link, until it leaves it or is pressed.
let pointed = null;
function closeCard(next) {
  document.querySelector(".person")?.remove();
  pointed = next;
}
document.addEventListener("mouseover", async (event) => {
  const link = event.target.closest("[data-card]");
  if (link === pointed) return;
  closeCard(link);
  if (!link) return;
  const text = await (await fetch(link.dataset.card)).text();
  if (pointed === link) link.after(Object.assign(document.createElement("aside"), { className: "person", innerHTML: text }));
});
document.addEventListener("mousedown", () => closeCard(undefined));
// The map, data-place: the address of a place whose menu a right click opens.
document.addEventListener("contextmenu", (event) => {
  const line = event.target.closest("[data-place]");
  if (!line) return;
  event.preventDefault();
  document.querySelector(".context")?.remove();
  const menu = document.querySelector("#context").content.firstElementChild.cloneNode(true);
  menu.action = `${line.dataset.place}/home`;
  Object.assign(menu.style, { left: `${event.clientX}px`, top: `${event.clientY}px` });
  document.body.append(menu);
});
document.addEventListener("mousedown", (event) => {
  if (!event.target.closest(".context")) document.querySelector(".context")?.remove();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.querySelector(".context")?.remove();
});
// The wiki and the forum, data-more: the address of further lines, which are fetched when one scrolls to the end of a box (data-from="end":
// the box begins with its last lines, and the earlier ones come when one scrolls up).
for (const box of document.querySelectorAll("[data-more]")) {
  const up = box.dataset.from === "end", list = box.querySelector("tbody");
  if (up) box.scrollTop = box.scrollHeight;
  let waiting = false;
  box.addEventListener("scroll", async () => {
    const left = up ? box.scrollTop : box.scrollHeight - box.clientHeight - box.scrollTop;
    if (left > 20 || waiting) return;
    waiting = true;
    const html = (await (await fetch(`${box.dataset.more}${list.rows.length}`)).text()).trim();
    const below = box.scrollHeight - box.scrollTop;
    list.insertAdjacentHTML(up ? "afterbegin" : "beforeend", html);
    if (up) box.scrollTop = box.scrollHeight - below;
    waiting = !html;                          // no more: the rest of the scrolling asks for nothing
  });
}
// The forum, data-draft: the address that keeps what stands in a field and was not sent.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.dataset.draft) return;
  clearTimeout(field.keeping);
  field.keeping = setTimeout(() => fetch(field.dataset.draft, { method: "POST", body: new URLSearchParams({ text: field.value }) }), 100);
});
// The back office, data-later: the address of what takes some seconds to be ready.
for (const place of document.querySelectorAll("[data-later]")) {
  setTimeout(async () => { place.innerHTML = await (await fetch(place.dataset.later)).text(); }, 4000);
}
