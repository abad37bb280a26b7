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
// Forum: a button opens and closes what it names; the address of a comment opens the replies it is among.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-toggle]");
  if (button) toggle(button, document.getElementById(button.dataset.toggle).hidden);
});
function toggle(button, open) {
  document.getElementById(button.dataset.toggle).hidden = !open;
  button.setAttribute("aria-expanded", open);
}
function openComment() {
  const comment = document.getElementById(location.hash.slice(1));
  const button = document.querySelector(`[data-toggle="${comment?.closest(".replies")?.id}"]`);
  if (button) toggle(button, true);
  if (button) comment.scrollIntoView({ block: "center" });
}
openComment();
window.addEventListener("hashchange", openComment);
// The search field names forums while one types.
document.addEventListener("input", async (event) => {
  const list = document.getElementById(event.target.dataset.suggest);
  if (!list) return;
  const text = event.target.value;
  const names = text.trim() ? await (await fetch(`/suggest?q=${encodeURIComponent(text)}`)).json() : [];
  if (event.target.value !== text) return;
  list.replaceChildren(...names.map((name) => Object.assign(document.createElement("a"), { href: `/f/${name}`, textContent: `f/${name}` })));
  list.hidden = !names.length;
});
