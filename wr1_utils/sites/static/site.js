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
// Menus that drop down, tabs that show one part of a page, and buttons that fill in a period.
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
