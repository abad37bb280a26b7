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
