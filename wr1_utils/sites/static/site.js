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
