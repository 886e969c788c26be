/** The welcome page's script: copies text to the clipboard. */

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}
