// What stands on the canvases of drawing programs: a floor plan, or a landscape in brush strokes, from a seed.
const sown = (n) => () => (n = n * 16807 % 2147483647) / 2147483647;
function grid(x, w, h, step) {
  x.globalAlpha = 0.1;
  for (let i = 0; i < w; i += step) { x.strokeRect(i, -1, step, h + 2); }
  for (let i = 0; i < h; i += step) { x.strokeRect(-1, i, w + 2, step); }
  x.globalAlpha = 1;
}
function dimension(x, l, r, y, text) {
  x.beginPath(); x.moveTo(l, y); x.lineTo(r, y); x.moveTo(l, y - 5); x.lineTo(l, y + 5); x.moveTo(r, y - 5); x.lineTo(r, y + 5); x.stroke();
  x.textAlign = 'center'; x.fillText(text, (l + r) / 2, y - 4);
}
function plan(x, w, h, next, names) {
  const ink = x.strokeStyle, size = Math.min(w * 0.72, h * 1.15), W = size, H = Math.min(h * 0.68, size * 0.62), L = (w - W) / 2, T = (h - H) / 2;
  grid(x, w, h, 24);
  x.lineWidth = 5; x.strokeRect(L, T, W, H);
  const rooms = [];
  const split = (l, t, r, b, depth) => {
    if (!depth || (r - l < W / 4 && b - t < H / 3)) { rooms.push([l, t, r, b]); return; }
    const at = 0.36 + next() * 0.28;
    x.lineWidth = 3; x.beginPath();
    if (r - l > b - t) {
      const m = l + (r - l) * at, gap = t + (b - t) * (0.2 + next() * 0.4), door = Math.min(26, (b - t) * 0.3);
      x.moveTo(m, t); x.lineTo(m, gap); x.moveTo(m, gap + door); x.lineTo(m, b); x.stroke();
      x.lineWidth = 1; x.strokeStyle = 'hsl(140 45% 45%)'; x.beginPath(); x.moveTo(m, gap); x.lineTo(m + door, gap); x.arc(m, gap, door, 0, Math.PI / 2); x.stroke(); x.strokeStyle = ink;
      split(l, t, m, b, depth - 1); split(m, t, r, b, depth - 1);
    } else {
      const m = t + (b - t) * at, gap = l + (r - l) * (0.2 + next() * 0.4), door = Math.min(26, (r - l) * 0.3);
      x.moveTo(l, m); x.lineTo(gap, m); x.moveTo(gap + door, m); x.lineTo(r, m); x.stroke();
      x.lineWidth = 1; x.strokeStyle = 'hsl(140 45% 45%)'; x.beginPath(); x.moveTo(gap, m); x.lineTo(gap, m + door); x.arc(gap, m, door, Math.PI / 2, 0, true); x.stroke(); x.strokeStyle = ink;
      split(l, t, r, m, depth - 1); split(l, m, r, b, depth - 1);
    }
  };
  split(L, T, L + W, T + H, 3);
  x.font = '12px sans-serif'; x.textAlign = 'center';
  rooms.forEach(([l, t, r, b], k) => {
    x.fillStyle = ink; x.globalAlpha = 0.85;
    x.fillText(names[k % names.length], (l + r) / 2, (t + b) / 2);
    x.globalAlpha = 0.55; x.fillText(((r - l) * (b - t) / W / H * 96).toFixed(1) + ' m²', (l + r) / 2, (t + b) / 2 + 15);
    x.strokeStyle = 'hsl(30 55% 50%)'; x.lineWidth = 1; x.strokeRect(l + 8, t + 8, 14 + next() * 22, 10 + next() * 14); x.strokeStyle = ink;
  });
  x.globalAlpha = 1; x.strokeStyle = x.fillStyle = 'hsl(205 65% 50%)'; x.lineWidth = 1;
  dimension(x, L, L + W, T - 22, (W * 10 | 0) + ' mm');
  x.save(); x.translate(L - 22, T + H); x.rotate(-Math.PI / 2); dimension(x, 0, H, 0, (H * 10 | 0) + ' mm'); x.restore();
  x.lineWidth = 3;
  for (let k = 0; k < 5; k++) { const at = L + W * (0.08 + k * 0.19); x.beginPath(); x.moveTo(at, T + H); x.lineTo(at + W * 0.08, T + H); x.stroke(); }
}
function sketch(x, w, h, next) {
  const hue = next() * 360, sky = x.createLinearGradient(0, 0, 0, h * 0.7);
  sky.addColorStop(0, `hsl(${hue} 45% 72%)`); sky.addColorStop(1, `hsl(${(hue + 40) % 360} 60% 90%)`);
  x.fillStyle = sky; x.fillRect(w * 0.03, h * 0.04, w * 0.94, h * 0.92);
  const stroke = (at, tone) => { x.strokeStyle = tone; x.beginPath(); x.moveTo(...at()); x.quadraticCurveTo(...at(), ...at()); x.stroke(); };
  x.lineCap = 'round'; x.fillStyle = 'hsl(45 90% 88%)'; x.beginPath(); x.arc(w * (0.2 + next() * 0.6), h * (0.16 + next() * 0.14), h * 0.06, 0, 7); x.fill();
  for (let layer = 0; layer < 4; layer++) {
    const base = h * (0.46 + layer * 0.12), tone = (hue + 80 + layer * 25) % 360, swell = h * (0.14 - layer * 0.025), shift = next() * 9;
    x.fillStyle = `hsl(${tone} 28% ${58 - layer * 9}%)`; x.beginPath(); x.moveTo(w * 0.03, h * 0.96);
    for (let i = 0; i <= 40; i++) x.lineTo(w * (0.03 + 0.94 * i / 40), base - swell * Math.sin(i / (5 + layer) + shift) - next() * 4);
    x.lineTo(w * 0.97, h * 0.96); x.fill(); x.lineWidth = 2 + layer;
    for (let k = 0; k < 46; k++) { const l = w * (0.05 + next() * 0.86), t = base + swell + next() * h * 0.1; if (t < h * 0.93) stroke(() => [l + next() * 34, t + next() * 9], `hsl(${tone} 34% ${46 + next() * 26 - layer * 8}% / .5)`); }
  }
  for (let k = 0; k < 7; k++) {
    const l = w * (0.08 + next() * 0.84), t = h * (0.7 + next() * 0.16), tall = h * (0.1 + next() * 0.1);
    x.lineWidth = 3; x.strokeStyle = 'hsl(25 30% 26%)'; x.beginPath(); x.moveTo(l, t); x.lineTo(l, t - tall); x.stroke();
    for (let i = 0; i < 16; i++) { x.fillStyle = `hsl(${(hue + 120 + next() * 40) % 360} 36% ${28 + next() * 24}% / .75)`; x.beginPath(); x.arc(l + (next() - 0.5) * tall * 0.7, t - tall + (next() - 0.5) * tall * 0.6, tall * 0.13, 0, 7); x.fill(); }
  }
}
for (const c of document.querySelectorAll('canvas[data-plan],canvas[data-sketch]')) {
  const r = devicePixelRatio, b = c.parentElement.getBoundingClientRect(), x = c.getContext('2d');
  c.width = b.width * r; c.height = b.height * r; c.style.width = b.width + 'px'; c.style.height = b.height + 'px';
  x.scale(r, r); x.strokeStyle = x.fillStyle = getComputedStyle(c.parentElement).color;
  if (c.dataset.plan) plan(x, b.width, b.height, sown(+c.dataset.plan), c.dataset.rooms.split('|'));
  else sketch(x, b.width, b.height, sown(+c.dataset.sketch));
}
