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
// What a filter does not use stays out of the address.
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("form.filters")) return;
  for (const [name, value] of [...event.formData]) if (!value) event.formData.delete(name);
});
