// Adds a Copy button to each pulled listing; the page is complete without it.
for (const listing of document.querySelectorAll("figure.listing")) {
  const head = listing.querySelector(".head");
  const code = listing.querySelector("pre");
  const label = listing.querySelector(".scroller").getAttribute("aria-label");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy " + label);
  button.addEventListener("click", async () => {
    const status = document.querySelector(".status");
    let copied = true;
    try {
      await navigator.clipboard.writeText(code.textContent + "\n");
    } catch {
      getSelection().selectAllChildren(code);
      copied = false;
    }
    button.textContent = copied ? "Copied" : "Selected";
    status.textContent = (copied ? "Copied: " : "Selected; copy it with the keyboard: ") + label;
    setTimeout(() => { button.textContent = "Copy"; status.textContent = ""; }, 2000);
  });
  head.append(button);
}
