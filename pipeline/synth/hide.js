// Hides every control and every text, and nothing else: what then looks the same has painted nothing.
() => {
  const CONTROLS = 'button,a[href],input,select,textarea,summary,[role]';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const holders = new Set(document.querySelectorAll(CONTROLS));
  while (walker.nextNode()) if (walker.currentNode.data.trim()) holders.add(walker.currentNode.parentElement);
  for (const e of holders) e.style.setProperty('visibility', 'hidden', 'important');
}
