// Looking around in captured attention. The page holds, as text:
//   #maps            JSON: for each text its views, with tokens, words, numbers of layers and heads, statistics
//   #w-M-V-L         base64: the weights of layer L (by place; "r" is the roll-out) of view V of map M
// A layer is decoded when it is first looked at. Bytes are 255·√weight. A layer has its heads and then, where there are
// several, their mean. With view.k = 0 it is dense, [heads][queries][keys]; otherwise each row has its k greatest: first
// all their keys, two bytes each, then all their weights.
"use strict";
(() => {
  const maps = JSON.parse(document.getElementById("maps").textContent);
  const root = document.documentElement;

  // ---- what is shown, kept in the address so that a place can be shared ----

  const state = { map: 0, view: 0, layer: 0, heads: [], words: false, mode: "heat", zoom: 0, query: -1, key: -1 };
  const map = () => maps[state.map];
  const view = () => map().views[state.view];
  const layerName = layer => layer === "r" ? "roll-out" : `layer ${view().layers[layer]}`;

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const number = (name, most) => {
      const n = parseInt(given.get(name) ?? "", 10);
      return Number.isInteger(n) && n >= 0 && n < most ? n : undefined;
    };
    state.map = number("text", maps.length) ?? 0;
    const views = map().views;
    const named = views.findIndex(v => v.name === given.get("view"));
    state.view = named >= 0 ? named : map().main;
    const layer = view().layers.indexOf(parseInt(given.get("layer") ?? "", 10));
    state.layer = given.get("layer") === "rollout" && view().rollout ? "r" : layer >= 0 ? layer : view().first;
    const heads = (given.get("heads") ?? "").split(",").map(h => view().heads.indexOf(parseInt(h, 10)));
    state.heads = heads.filter(h => h >= 0);
    if (!given.has("heads") && view().firstHead >= 0) state.heads = [view().firstHead];
    state.words = given.has("words") ? given.get("words") === "1" : Boolean(map().words);
    if (["light", "dark"].includes(given.get("theme"))) root.dataset.theme = given.get("theme");
    state.mode = modes.some(m => m.name === given.get("mode")) ? given.get("mode") : "heat";
    if (!modes.find(m => m.name === state.mode).fits()) state.mode = "heat";
  }
  function writeAddress() {
    const parts = [`view=${view().name}`, `layer=${state.layer === "r" ? "rollout" : view().layers[state.layer]}`,
                   `mode=${state.mode}`];
    if (state.map > 0) parts.unshift(`text=${state.map}`);
    parts.push(`heads=${state.heads.map(h => view().heads[h]).join(",")}`);
    parts.push(`words=${state.words ? 1 : 0}`);
    if (root.dataset.theme) parts.push(`theme=${root.dataset.theme}`);
    try { history.replaceState(null, "", "#" + parts.join("&")); } catch { /* a page in a sandbox has no address */ }
  }

  // ---- weights ----

  const layersDecoded = new Map(), matrices = new Map();
  /// Keeps the newest few.
  function remember(cache, key, most, make) {
    let value = cache.get(key);
    if (value === undefined) value = make();
    cache.delete(key);
    cache.set(key, value);
    if (cache.size > most) cache.delete(cache.keys().next().value);
    return value;
  }
  function layerBytes(layer) {
    const id = `w-${state.map}-${state.view}-${layer}`;
    return remember(layersDecoded, id, 48, () => {
      const text = atob(document.getElementById(id).textContent);
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
      return bytes;
    });
  }
  const weightOf = Float32Array.from({ length: 256 }, (_, byte) => (byte / 255) ** 2);

  const headsOf = layer => layer === "r" ? 1 : view().heads.length;
  /// The place in a layer's bytes where the mean of its heads is.
  const meanOf = layer => headsOf(layer) > 1 ? headsOf(layer) : 0;

  /// Calls take(query, key, weight) for every weight of a head that is kept.
  function eachWeight(layer, head, take) {
    const { k, queries: { length: Q }, keys: { length: K } } = view();
    const bytes = layerBytes(layer), slots = headsOf(layer) > 1 ? headsOf(layer) + 1 : 1;
    if (k === 0) {
      for (let q = 0, at = head * Q * K; q < Q; ++q)
        for (let key = 0; key < K; ++key, ++at) if (bytes[at]) take(q, key, weightOf[bytes[at]]);
      return;
    }
    const weights = 2 * slots * Q * k;
    for (let q = 0, at = head * Q * k; q < Q; ++q)
      for (let i = 0; i < k; ++i, ++at)
        if (bytes[weights + at]) take(q, bytes[2 * at] | bytes[2 * at + 1] << 8, weightOf[bytes[weights + at]]);
  }

  /// Tokens, or words: which of them each token belongs to, how they are called, and how many tokens each has.
  function sideOf(tokens, words) {
    const side = { of: [], labels: [], texts: [], sizes: [], special: [] };
    tokens.forEach((token, i) => {
      const goesOn = state.words && i > 0 && words[i] >= 0 && words[i] === words[i - 1];
      if (!goesOn) side.labels.push(""), side.texts.push(""), side.sizes.push(0), side.special.push(words[i] < 0);
      const last = side.labels.length - 1;
      side.texts[last] += goesOn ? token.replace(/^##/, "") : token;
      side.labels[last] = labelOf(side.texts[last]);
      ++side.sizes[last];
      side.of.push(last);
    });
    return side;
  }
  const labelOf = text => text.trim() === "" && text !== "" && !/[\n\t]/.test(text) ? "␣"
    : text.replace(/^ +/, "").replace(/\n/g, "↵").replace(/\t/g, "⇥");

  let sides;  // of the view at hand: {queries, keys}
  function findSides() {
    const v = view();
    sides = { queries: sideOf(v.queries, v.queryWords), keys: sideOf(v.keys, v.keyWords) };
  }

  /// One head as a dense matrix, by words if they are shown: what goes to a word is the sum over its tokens, what comes
  /// from it their mean.
  function headMatrix(layer, head) {
    const id = `${state.map}-${state.view}-${layer}-${head}-${state.words}`;
    return remember(matrices, id, 64, () => {
      const { queries, keys } = sides, K = keys.labels.length;
      const values = new Float32Array(queries.labels.length * K);
      eachWeight(layer, head, (q, k, w) => { values[queries.of[q] * K + keys.of[k]] += w / queries.sizes[queries.of[q]]; });
      return values;
    });
  }
  /// What is chosen: one head, the mean, or the mean of some.
  function chosenMatrix() {
    if (state.layer === "r" || state.heads.length === 0) return headMatrix(state.layer, meanOf(state.layer));
    if (state.heads.length === 1) return headMatrix(state.layer, state.heads[0]);
    const parts = state.heads.map(h => headMatrix(state.layer, h));
    return parts[0].map((_, i) => parts.reduce((sum, part) => sum + part[i], 0) / parts.length);
  }
  /// What is drawn in full: more than the greatest weight of nine rows in ten. So one row that can only look at itself,
  /// as the first of a causal model, does not leave all others pale.
  function fullScale(values, columns) {
    const most = [];
    for (let at = 0; at < values.length; at += columns) most.push(greatest(values, at, at + columns));
    most.sort((a, b) => a - b);
    return most[Math.floor((most.length - 1) * 0.9)] || most[most.length - 1] || 1;
  }
  function greatest(values, begin = 0, end = values.length) {
    let most = 0;
    for (let i = begin; i < end; ++i) if (values[i] > most) most = values[i];
    return most;
  }

  // ---- small helpers of the page ----

  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties))
      if (name in element) element[name] = value; else element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  const colour = name => getComputedStyle(root).getPropertyValue(name).trim();
  const rgbOf = name => colour(name).split(" ").map(Number);
  const percent = w => w >= 0.0995 ? w.toFixed(2) : w.toFixed(3);
  const headColour = (i, alpha = 1) =>
    `hsl(${(210 + i * 137.5) % 360} 70% ${root.dataset.dark === "1" ? 66 : 42}% / ${alpha})`;

  /// 256 steps from cold to hot, as ImageData's pixels. The root makes small weights visible: most are.
  let ramp = new Uint32Array(256);
  function mixRamp() {
    const dark = colour("--ground").startsWith("#1");
    root.dataset.dark = dark ? "1" : "0";
    const cold = rgbOf("--cold"), hot = rgbOf("--hot");
    for (let i = 0; i < 256; ++i) {
      const c = cold.map((from, channel) => Math.round(from + (hot[channel] - from) * Math.sqrt(i / 255)));
      ramp[i] = 0xff000000 | c[2] << 16 | c[1] << 8 | c[0];
    }
  }
  function imageOf(values, rows, columns, full = fullScale(values, columns)) {
    const canvas = make("canvas", { width: Math.max(columns, 1), height: Math.max(rows, 1) });
    const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer), scale = 255 / full;
    for (let i = 0; i < values.length; ++i) pixels[i] = ramp[Math.min(255, values[i] * scale + 0.5 | 0)];
    context.putImageData(image, 0, 0);
    return canvas;
  }

  const tip = make("div", { className: "tip", hidden: true });
  function showTip(event, text) {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
    tip.style.top = `${event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 16}px`;
  }

  const status = make("p", { className: "status", role: "status" });
  /// The chosen token in words, for those who read, and for those who listen.
  function describe() {
    const { queries, keys } = sides, K = keys.labels.length;
    const ofTokens = ["heat", "lines", "text"].includes(state.mode);
    if (!ofTokens || state.query < 0 || state.query >= queries.labels.length) {
      status.textContent = `${heading()}. ${modes.find(m => m.name === state.mode).hint}`;
      return;
    }
    const row = chosenMatrix().subarray(state.query * K, (state.query + 1) * K);
    const order = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, 5).filter(k => row[k] > 0);
    const most = order.map(k => `“${keys.labels[k]}” ${percent(row[k])}`).join(", ");
    const at = state.key >= 0 && state.key < K ? ` at “${keys.labels[state.key]}” with ${percent(row[state.key])};` : "";
    status.textContent = most ? `“${queries.labels[state.query]}” looks${at} most at ${most}.`
                              : `“${queries.labels[state.query]}” looks at nothing.`;
  }
  function heading() {
    const v = view(), heads = state.layer === "r" ? "" : state.heads.length === 0
      ? (v.heads.length > 1 ? `, mean of ${v.heads.length} heads` : "")
      : `, head${state.heads.length > 1 ? "s" : ""} ${state.heads.map(h => v.heads[h]).join(", ")}`;
    return `${v.name[0].toUpperCase()}${v.name.slice(1)} attention, ${layerName(state.layer)}${heads}`;
  }

  /// A canvas as large as its window onto something larger: what is scrolled to is drawn, nothing else exists.
  function board({ width, height, draw, move, label }) {
    const canvas = make("canvas"), sizer = make("div", { className: "sizer" }, canvas);
    const box = make("div", { className: "board", tabIndex: 0, role: "application", "aria-label": label }, sizer);
    let waiting = 0;
    const paint = () => {
      waiting = 0;
      const w = box.clientWidth, h = box.clientHeight, dpr = devicePixelRatio || 1;
      if (canvas.width !== Math.round(w * dpr) || canvas.height !== Math.round(h * dpr)) {
        canvas.width = Math.round(w * dpr), canvas.height = Math.round(h * dpr);
        canvas.style.width = `${w}px`, canvas.style.height = `${h}px`;
      }
      const context = canvas.getContext("2d");
      context.setTransform(dpr, 0, 0, dpr, 0, 0);
      context.fillStyle = colour("--ground");
      context.fillRect(0, 0, w, h);
      draw(context, { x: box.scrollLeft, y: box.scrollTop, w, h });
    };
    const ask = () => { waiting ||= requestAnimationFrame(paint); };
    const fit = () => {
      const window = { width: box.parentElement.clientWidth - 2, height: Math.max(260, innerHeight * 0.72) };
      const wide = width(window.width), tall = height(window.width), scrolls = wide > window.width ? 18 : 0;
      box.style.width = `${Math.min(wide, window.width) + 2}px`;
      box.style.height = `${Math.min(tall + scrolls + 2, window.height)}px`;
      sizer.style.width = wide > window.width ? `${wide}px` : "100%", sizer.style.height = `${tall}px`;
      paint();  // at once: an empty frame would flicker
    };
    box.addEventListener("scroll", ask, { passive: true });
    const at = event => {
      const { left, top } = box.getBoundingClientRect();
      return { x: event.clientX - left - box.clientLeft, y: event.clientY - top - box.clientTop };
    };
    box.addEventListener("pointermove", event => { move.point(at(event), box, event), ask(); });
    box.addEventListener("pointerdown", event => { move.point(at(event), box, event), ask(); });
    box.addEventListener("pointerleave", event => { showTip(event, ""); });
    box.addEventListener("keydown", event => {
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!steps || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      move.step(...steps, box), ask();
    });
    box.addEventListener("focus", () => { if (state.query < 0) move.step(0, 0, box), ask(); });
    new ResizeObserver(fit).observe(host);
    return { box, fit, ask };
  }
  const clamp = (n, low, high) => Math.max(low, Math.min(high, n));
  /// Moves the chosen cell.
  function stepTo(rows, columns) {
    state.query = clamp((state.query < 0 ? 0 : state.query) + rows, 0, sides.queries.labels.length - 1);
    state.key = clamp((state.key < 0 ? 0 : state.key) + columns, 0, sides.keys.labels.length - 1);
    describe();
  }

  // ---- the heat map ----

  function showHeat(host) {
    const { queries, keys } = sides, Q = queries.labels.length, K = keys.labels.length;
    const values = chosenMatrix(), most = fullScale(values, K), image = imageOf(values, Q, K, most);
    const measure = make("canvas").getContext("2d");
    measure.font = "13px system-ui, sans-serif";
    const widest = labels => {  // the longest by letters are measured: of a long text, not all
      const longest = labels.length < 40 ? labels : [...labels].sort((a, b) => b.length - a.length).slice(0, 20);
      return longest.reduce((most, label) => Math.max(most, measure.measureText(label).width), 0);
    };
    const narrow = innerWidth < 480;
    const left = Math.min(widest(queries.labels) + 14, narrow ? 84 : 150);
    const top = Math.min(widest(keys.labels) * 0.87 + 16, narrow ? 76 : 120);
    // As large as the window allows, up to where numbers can be read in the cells.
    const cellIn = w => state.zoom > 0 ? state.zoom
      : clamp(Math.min((w - left - 14) / K, Math.max((innerHeight * 0.72 - top - 8) / Q, 18)), 0.5, 44);
    let cell = 16;
    const cellAt = ({ x, y }, box) => ({
      row: y < top ? -1 : Math.floor((y - top + box.scrollTop) / cell),
      column: x < left ? -1 : Math.floor((x - left + box.scrollLeft) / cell),
    });
    const surface = board({
      label: `Heat map: ${heading()}. Rows look at columns. Arrow keys move.`,
      width: w => (cell = cellIn(w), Math.ceil(left + K * cell + 10)),
      height: w => (cell = cellIn(w), Math.ceil(top + Q * cell + 6)),
      draw(context, { x, y, w, h }) {
        const first = { r: Math.floor(y / cell), c: Math.floor(x / cell) };
        const last = { r: Math.min(Q, Math.ceil((y + h - top) / cell)), c: Math.min(K, Math.ceil((x + w - left) / cell)) };
        context.save();
        context.beginPath();
        context.rect(left, top, w - left, h - top);
        context.clip();
        context.imageSmoothingEnabled = cell < 1;
        context.drawImage(image, first.c, first.r, last.c - first.c, last.r - first.r, left + first.c * cell - x,
                          top + first.r * cell - y, (last.c - first.c) * cell, (last.r - first.r) * cell);
        if (cell >= 34) {
          const light = `rgb(${colour("--cold")})`, ink = colour("--ink");
          context.font = "11px system-ui, sans-serif";
          context.textAlign = "center", context.textBaseline = "middle";
          for (let r = first.r; r < last.r; ++r)
            for (let c = first.c; c < last.c; ++c) {
              const weight = values[r * K + c];
              if (weight < 0.005) continue;
              context.fillStyle = weight > 0.2 * most ? light : ink;
              context.fillText(weight.toFixed(2).replace(/^0/, ""), left + (c + 0.5) * cell - x, top + (r + 0.5) * cell - y);
            }
        }
        context.strokeStyle = colour("--line");
        context.lineWidth = 1;
        context.strokeRect(left - x + 0.5, top - y + 0.5, K * cell, Q * cell);
        if (state.query >= 0) {
          context.strokeStyle = colour("--mark");
          context.lineWidth = Math.min(2, Math.max(1, cell / 8));
          context.strokeRect(left - x, top - y + state.query * cell, K * cell, cell);
          if (state.key >= 0) context.strokeRect(left - x + state.key * cell, top - y, cell, Q * cell);
        }
        context.restore();
        // Labels where there is room; those of the chosen row and column always.
        context.textBaseline = "middle";
        const every = Math.ceil(14 / cell);
        const write = (label, chosen, room) => {
          context.font = `${chosen ? "600 " : ""}${cell < 12 ? 11 : 13}px system-ui, sans-serif`;
          context.fillStyle = chosen ? colour("--mark") : colour("--ink");
          while (label.length > 1 && context.measureText(label).width > room) label = label.slice(0, -2) + "…";
          context.fillText(label, 0, 0);
        };
        const near = (i, chosen) => chosen >= 0 && i !== chosen && Math.abs(i - chosen) * cell < 13;
        context.save();
        context.beginPath(), context.rect(0, top - 4, left, h), context.clip();
        context.textAlign = "right";
        for (let r = first.r; r < last.r; ++r) {
          if ((r % every !== 0 && r !== state.query) || near(r, state.query)) continue;
          context.save();
          context.translate(left - 7, top + (r + 0.5) * cell - y);
          write(queries.labels[r], r === state.query, left - 10);
          context.restore();
        }
        context.restore();
        context.save();
        context.beginPath(), context.rect(left - 8, 0, w, top), context.clip();
        context.textAlign = "left";
        for (let c = first.c; c < last.c; ++c) {
          if ((c % every !== 0 && c !== state.key) || near(c, state.key)) continue;
          context.save();
          context.translate(left + (c + 0.5) * cell - x, top - 7);
          context.rotate(-Math.PI / 3);
          write(keys.labels[c], c === state.key, (top - 12) / 0.87);
          context.restore();
        }
        context.restore();
      },
      move: {
        point(place, box, event) {
          const { row, column } = cellAt(place, box);
          if (row >= Q || column >= K || (row < 0 && column < 0)) return showTip(event, "");
          if (row >= 0) state.query = row;
          state.key = column;
          describe();
          showTip(event, row < 0 || column < 0 ? "" :
            `“${queries.labels[row]}” → “${keys.labels[column]}”\n${percent(values[row * K + column])}`);
        },
        step(rows, columns, box) {
          stepTo(rows, columns);
          const reach = (from, size, edge, room, scroll) =>
            from < scroll ? from : from + size > scroll + room - edge ? from + size - room + edge : scroll;
          box.scrollTop = reach(state.query * cell, cell, top, box.clientHeight, box.scrollTop);
          box.scrollLeft = reach(state.key * cell, cell, left, box.clientWidth, box.scrollLeft);
        },
      },
    });
    const zoom = by => { state.zoom = clamp(cell * by, 1, 40), surface.fit(); };
    const bar = make("canvas", { className: "ramp", width: 112, height: 1 });
    const pixels = bar.getContext("2d").createImageData(112, 1);
    new Uint32Array(pixels.data.buffer).forEach((_, i, all) => { all[i] = ramp[Math.round(i / 111 * 255)]; });
    bar.getContext("2d").putImageData(pixels, 0, 0);
    host.append(surface.box, make("div", { className: "legend" }, "0", bar, (greatest(values) > most ? "≥ " : "") + percent(most),
      make("span", { textContent: "· a row looks at its columns" + (view().k ? ` · the ${view().k} greatest of each row` : "") }),
      make("button", { textContent: "−", title: "Smaller cells", "aria-label": "Smaller cells", onclick: () => zoom(1 / 1.5) }),
      make("button", { textContent: "+", title: "Larger cells", "aria-label": "Larger cells", onclick: () => zoom(1.5) }),
      make("button", { textContent: "fit", onclick: () => { state.zoom = 0, surface.fit(); } })));
    surface.fit();
  }

  // ---- lines between tokens ----

  function showLines(host) {
    const { queries, keys } = sides, Q = queries.labels.length, K = keys.labels.length;
    const heads = state.layer === "r" || state.heads.length === 0 ? [meanOf(state.layer)] : state.heads;
    const parts = heads.map(h => ({ values: headMatrix(state.layer, h), colour: heads.length > 1 ? alpha => headColour(h, alpha)
      : alpha => `rgb(${colour("--hot")} / ${alpha})` }));
    const step = 22, above = 10;
    const columns = w => ({ left: Math.round(w * 0.36), right: Math.round(w * 0.64) });
    let pointedKey = -1;  // lines that come in, instead of those that go out
    const surface = board({
      label: `Lines: ${heading()}. Tokens on the left look at tokens on the right. Arrow keys move.`,
      width: w => w,
      height: () => Math.max(Q, K) * step + 2 * above,
      draw(context, { y, w, h }) {
        const { left, right } = columns(w), middle = (left + right) / 2;
        const place = i => above + (i + 0.5) * step - y;
        const seen = i => place(i) > -step && place(i) < h + step;
        const one = pointedKey >= 0 ? "key" : state.query >= 0 ? "query" : "";
        const share = new Float32Array(one === "key" ? Q : K);  // of the chosen token, for the boxes behind labels
        context.lineCap = "round";
        for (const { values, colour: inColour } of parts) {
          const most = one ? 1 : fullScale(values, K), least = one ? 0.004 : most * 0.06;
          for (let q = 0; q < Q; ++q) {
            if (one === "query" && q !== state.query) continue;
            for (let k = 0; k < K; ++k) {
              const weight = values[q * K + k];
              if (weight < least || (one === "key" && k !== pointedKey)) continue;
              if (one === "key") share[q] += weight / parts.length; else if (one) share[k] += weight / parts.length;
              if (!seen(q) && !seen(k) && (place(q) < 0) === (place(k) < 0)) continue;
              context.strokeStyle = inColour(Math.min(1, one ? 0.15 + weight : 0.85 * weight / most).toFixed(3));
              context.lineWidth = 0.6 + 3.2 * Math.min(1, weight / most);
              context.beginPath();
              context.moveTo(left + 6, place(q));
              context.bezierCurveTo(middle, place(q), middle, place(k), right - 6, place(k));
              context.stroke();
            }
          }
        }
        context.textBaseline = "middle";
        const column = (labels, x, align, marked, shares) => {
          for (let i = Math.max(0, Math.floor((y - above) / step)); i < labels.length && place(i) < h + step; ++i) {
            context.font = `${marked === i ? "600 " : ""}13px system-ui, sans-serif`;
            let label = labels[i];
            const room = left - 16;
            while (label.length > 1 && context.measureText(label).width > room) label = label.slice(0, -2) + "…";
            const size = context.measureText(label).width + 10, from = align === "right" ? x - size + 5 : x - 5;
            if (shares && shares[i] > 0.004) {
              context.fillStyle = `rgb(${colour("--hot")} / ${Math.min(0.45, Math.sqrt(shares[i]) * 0.5)})`;
              context.fillRect(from, place(i) - step / 2 + 2, size, step - 4);
            }
            context.textAlign = align;
            context.fillStyle = marked === i ? colour("--mark") : colour("--ink");
            context.fillText(label, x, place(i));
          }
        };
        column(queries.labels, left, "right", one === "query" ? state.query : -1, one === "key" ? share : null);
        column(keys.labels, right, "left", one === "key" ? pointedKey : -1, one === "query" ? share : null);
      },
      move: {
        point({ x, y }, box, event) {
          const i = Math.floor((y + box.scrollTop - above) / step), { right } = columns(box.clientWidth);
          const incoming = x > right - 20;
          pointedKey = incoming && i < K ? i : -1;
          if (!incoming) state.query = i >= 0 && i < Q ? i : -1;
          if (incoming) showTip(event, i < K ? `who looks at “${keys.labels[i]}”` : "");
          else showTip(event, ""), describe();
        },
        step(rows, columnsMoved, box) {
          pointedKey = -1;
          stepTo(rows, columnsMoved);
          box.scrollTop = clamp(box.scrollTop, (state.query + 2) * step - box.clientHeight, Math.max(0, state.query * step - 8));
        },
      },
    });
    surface.box.addEventListener("pointerleave", () => { pointedKey = -1, state.query = -1, describe(), surface.ask(); });
    host.append(surface.box, make("div", { className: "legend" },
      "Left looks at right. Point at a token to see its lines alone; several heads (shift-click) have colours of their own."));
    surface.fit();
  }

  // ---- the text itself ----

  function showText(host) {
    const { queries, keys } = sides, K = keys.labels.length, values = chosenMatrix();
    const same = view().name !== "cross" && queries.labels.length === K;
    const write = (side, role) => {
      const flow = make("div", { className: "flow" });
      const spans = side.texts.map((text, i) => {
        const pieces = /^##/.test(text) && !state.words;
        const spaced = /^\s/.test(text) || (i > 0 && !pieces && !side.texts.some(t => /^ /.test(t)));
        if (spaced && i > 0) flow.append(" ");
        const shown = side.special[i] ? labelOf(text) : text.replace(/^ +/, "").replace(/\n/g, "↵\n") || "␣";
        const span = make("span", { className: side.special[i] ? "token special" : "token", textContent: shown });
        if (role === "query") span.tabIndex = i === Math.max(state.query, 0) ? 0 : -1, span.setAttribute("role", "button");
        flow.append(span);
        return span;
      });
      return { flow, spans };
    };
    const asks = write(queries, "query"), answers = same ? asks : write(keys, "key");
    const cold = rgbOf("--cold"), hot = rgbOf("--hot");
    const paint = () => {
      const row = state.query < 0 ? new Float32Array(K) : values.subarray(state.query * K, (state.query + 1) * K);
      const most = greatest(row) || 1;
      answers.spans.forEach((span, k) => {
        const s = Math.sqrt(row[k] / most), c = cold.map((from, i) => Math.round(from + (hot[i] - from) * s));
        span.style.background = row[k] > 0.002 ? `rgb(${c.join(" ")})` : "";
        span.classList.toggle("hot", s > 0.55);
        span.title = state.query < 0 ? "" : percent(row[k]);
      });
      asks.spans.forEach((span, q) => span.classList.toggle("chosen", q === state.query));
    };
    const choose = (q, focus) => {
      state.query = q, state.key = -1;
      asks.spans.forEach((span, i) => { span.tabIndex = i === q ? 0 : -1; });
      if (focus) asks.spans[q].focus();
      paint(), describe();
    };
    asks.spans.forEach((span, q) => {
      span.onclick = span.onpointerenter = () => choose(q, false);
      span.onfocus = () => { if (state.query !== q) choose(q, false); };
      span.onkeydown = event => {
        const to = { ArrowLeft: q - 1, ArrowRight: q + 1, Home: 0, End: asks.spans.length - 1 }[event.key];
        if (to === undefined || !asks.spans[to]) return;
        event.preventDefault();
        choose(to, true);
      };
    });
    if (!same) host.append(make("h2", { textContent: view().name === "cross" ? "Translation" : "Looks" }));
    host.append(asks.flow);
    if (!same) host.append(make("h2", { textContent: view().name === "cross" ? "Source" : "Text" }), answers.flow);
    if (state.query < 0) state.query = Math.min(1, queries.labels.length - 1);
    paint(), describe();
  }

  // ---- all layers and heads ----

  function showGrid(host) {
    const v = view(), side = innerWidth < 480 ? 52 : clamp(Math.floor((Math.min(innerWidth, 1280) - 140) / v.heads.length) - 6, 44, 120);
    const grid = make("div", { className: "grid" });
    grid.style.gridTemplateColumns = `max-content repeat(${v.heads.length}, ${side}px)`;
    grid.append(make("div", { className: "name" }), ...v.heads.map(h => make("div", { className: "name over", textContent: `head ${h}`.slice(side < 60 ? 5 : 0) })));
    const thumbs = new Map();
    const watch = new IntersectionObserver(entries => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting) watch.unobserve(target), drawThumb(target.querySelector("canvas"), ...thumbs.get(target), side);
    }, { rootMargin: "200px" });
    for (let l = 0; l < v.layers.length; ++l) {
      grid.append(make("div", { className: "name", textContent: `layer ${v.layers[l]}` }));
      for (let h = 0; h < v.heads.length; ++h) {
        const chosen = l === state.layer && state.heads.length === 1 && state.heads[0] === h;
        const button = make("button", { "aria-label": `layer ${v.layers[l]}, head ${v.heads[h]}${kindOf(l, h)}`,
          title: `layer ${v.layers[l]}, head ${v.heads[h]}${kindOf(l, h)}`, "aria-pressed": String(chosen),
          onclick: () => { state.layer = l, state.heads = [h], state.mode = "heat", update(); } }, make("canvas"));
        thumbs.set(button, [l, h]);
        grid.append(button);
        watch.observe(button);
      }
    }
    host.append(grid, make("div", { className: "legend" }, "Each square is a head: rows look at columns. Choose one to see it large."));
  }
  /// The strongest of the cells that share a pixel.
  function drawThumb(canvas, layer, head, side) {
    const { queries: { length: Q }, keys: { length: K } } = view();
    const rows = Math.min(Q, side), columns = Math.min(K, side), values = new Float32Array(rows * columns);
    eachWeight(layer, head, (q, k, w) => {
      const at = Math.floor(q * rows / Q) * columns + Math.floor(k * columns / K);
      if (w > values[at]) values[at] = w;
    });
    const image = imageOf(values, rows, columns), dpr = devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(side * dpr);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
  }

  // ---- what the heads do, in numbers ----

  const measures = ["entropy", "distance", "previous", "self", "next", "first", "separator", "same word"];
  const statistics = (l, h) => view().statistics[l * view().heads.length + h];
  /// ": mostly the previous token (0.83)", where one thing takes more than half.
  function kindOf(l, h) {
    const s = statistics(l, h);
    for (const i of [2, 3, 4, 5, 6, 7])
      if (s[i] > 0.5) return `: mostly ${["the previous token", "the token itself", "the next token", "the first token", "separators", "the same word"][i - 2]} (${s[i].toFixed(2)})`;
    return "";
  }
  let sortBy = -1, descending = true;
  function showTable(host) {
    const v = view(), shown = measures.map((_, i) => i).filter(i => statistics(0, 0)[i] !== null);
    const rows = [];
    for (let l = 0; l < v.layers.length; ++l) for (let h = 0; h < v.heads.length; ++h) rows.push({ l, h, s: statistics(l, h) });
    if (sortBy >= 0) rows.sort((a, b) => (descending ? -1 : 1) * (a.s[sortBy] - b.s[sortBy]));
    const body = make("tbody");
    for (const { l, h, s } of rows) {
      const open = () => { state.layer = l, state.heads = [h], state.mode = "heat", update(); };
      const row = make("tr", { onclick: open }, make("td", {}, make("button", { textContent: `${v.layers[l]}.${v.heads[h]}`, "aria-label": `layer ${v.layers[l]}, head ${v.heads[h]}` })));
      for (const i of shown) {
        const cell = make("td", { textContent: s[i].toFixed(i === 1 ? 1 : 2) });
        if (i >= 2) cell.style.background = `rgb(${colour("--hot")} / ${(Math.sqrt(s[i]) * 0.4).toFixed(3)})`;
        row.append(cell);
      }
      body.append(row);
    }
    const header = make("tr", {}, make("th", { scope: "col", textContent: "layer.head" }), ...shown.map(i =>
      make("th", { scope: "col", "aria-sort": sortBy === i ? (descending ? "descending" : "ascending") : "none" },
        make("button", { textContent: measures[i] + (sortBy === i ? (descending ? " ↓" : " ↑") : ""), onclick: () => {
          descending = sortBy === i ? !descending : true, sortBy = i, update();
        } }))));
    host.append(make("div", { className: "scroll" }, make("table", {}, make("thead", {}, header), body)),
      make("div", { className: "legend" }, "Entropy in bits, distance in tokens; the others are shares of the weight."));
  }

  // ---- words opposite words ----

  function showPairs(host) {
    const source = map().text.split(/\s+/).filter(Boolean), target = map().translation.split(/\s+/).filter(Boolean);
    const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const word = (text, i, side) => make("button", { className: "word", textContent: text, onpointerenter: () => mark(i, side),
      onfocus: () => mark(i, side), onpointerleave: () => mark(-1, side), onblur: () => mark(-1, side) });
    const above = source.map((w, i) => word(w, i, 0)), below = target.map((w, i) => word(w, i, 1));
    const box = make("div", { className: "pairs" }, make("div", { className: "row" }, ...above), lines, make("div", { className: "row" }, ...below));
    const paths = map().alignments.map(pair => ({ pair, path: document.createElementNS("http://www.w3.org/2000/svg", "path") }));
    const mark = (i, side) => {
      for (const { pair, path } of paths) {
        path.classList.toggle("on", i >= 0 && pair[side] === i), path.classList.toggle("off", i >= 0 && pair[side] !== i);
      }
      const on = new Set(paths.filter(({ pair }) => i >= 0 && pair[side] === i).map(({ pair }) => pair[1 - side]));
      (side ? above : below).forEach((w, j) => w.classList.toggle("on", on.has(j)));
      if (i < 0) return describe();
      const others = [...on].map(j => `“${(side ? source : target)[j]}”`).join(", ");
      status.textContent = `“${(side ? target : source)[i]}” ↔ ${others || "nothing"}`;
    };
    const draw = () => {
      const { left, top } = box.getBoundingClientRect();
      lines.setAttribute("width", box.scrollWidth), lines.setAttribute("height", box.clientHeight);
      for (const { pair: [s, t], path } of paths) {
        if (!above[s] || !below[t]) continue;
        const a = above[s].getBoundingClientRect(), b = below[t].getBoundingClientRect();
        const x = r => r.left + r.width / 2 - left + box.scrollLeft, from = a.bottom - top, to = b.top - top;
        path.setAttribute("d", `M${x(a)},${from}C${x(a)},${(from + to) / 2} ${x(b)},${(from + to) / 2} ${x(b)},${to}`);
      }
    };
    lines.append(...paths.map(({ path }) => path));
    host.append(make("h2", { textContent: "Source, and below it the translation" }), box);
    draw();
    new ResizeObserver(draw).observe(box);
  }

  // ---- the page ----

  const modes = [
    { name: "heat", title: "Heat map", hint: "Point at a cell, or move with the arrow keys.", show: showHeat, fits: () => true },
    { name: "lines", title: "Lines", hint: "Point at a token, or move with the arrow keys.", show: showLines, fits: () => true },
    { name: "text", title: "Text", hint: "Point at a token, or move with the arrow keys.", show: showText, fits: () => true },
    { name: "grid", title: "All heads", hint: "Choose a head to see it large.", show: showGrid, fits: () => view().layers.length * view().heads.length > 1 },
    { name: "table", title: "Statistics", hint: "Choose a head to see it, or a heading to sort by it.", show: showTable, fits: () => true },
    { name: "alignment", title: "Alignment", hint: "Point at a word to see its partners.", show: showPairs, fits: () => (map().alignments ?? []).length > 0 },
  ];

  const app = document.getElementById("app");
  const given = make("p", { className: "given" });
  const controls = make("div", { className: "controls" });
  const tabs = make("div", { role: "tablist", "aria-label": "Kind of picture" });
  const host = make("section", { role: "tabpanel", id: "panel" });

  function choice(name, options, chosen, take) {
    const select = make("select", { id: `choose-${name}`, onchange: () => take(select.value) },
      ...options.map(([value, text]) => make("option", { value, textContent: text, selected: String(value) === String(chosen) })));
    return make("div", {}, make("label", { className: "name", htmlFor: select.id, textContent: name }), select);
  }
  function changeView(place) {
    state.view = place;
    state.layer = view().first;
    state.heads = [], state.query = state.key = -1, state.zoom = 0;
  }

  function drawControls() {
    const v = view(), parts = [];
    if (maps.length > 1) {
      const turn = by => { state.map = (state.map + by + maps.length) % maps.length, changeView(map().main), update(); };
      const texts = choice("Text", maps.map((m, i) => [i, `${i + 1}. ${m.text.slice(0, 60)}`]), state.map, value => {
        state.map = Number(value), changeView(map().main), update();
      });
      texts.querySelector("select").style.maxWidth = "min(20rem, 55vw)";
      texts.append(make("button", { textContent: "‹", "aria-label": "Previous text", onclick: () => turn(-1) }),
                   make("button", { textContent: "›", "aria-label": "Next text", onclick: () => turn(1) }));
      parts.push(texts);
    }
    if (map().views.length > 1)
      parts.push(choice("View", map().views.map((one, i) => [i, one.name]), state.view, value => { changeView(Number(value)), update(); }));
    const layers = v.layers.map((layer, i) => [i, String(layer)]);
    if (v.rollout) layers.push(["r", "roll-out"]);
    if (layers.length > 1)
      parts.push(choice("Layer", layers, state.layer, value => { state.layer = value === "r" ? "r" : Number(value), update(); }));
    if (v.heads.length > 1 && state.layer !== "r") {
      const buttons = [make("button", { textContent: "mean", "aria-pressed": String(state.heads.length === 0),
        onclick: () => { state.heads = [], update(); } })];
      v.heads.forEach((head, h) => {
        const on = state.heads.includes(h);
        const button = make("button", { textContent: head, "aria-pressed": String(on), title: `head ${head}${state.layer === "r" ? "" : kindOf(state.layer, h)}`,
          "aria-label": `head ${head}`, onclick: event => {
            if (event.shiftKey || event.ctrlKey || event.metaKey) state.heads = on ? state.heads.filter(i => i !== h) : [...state.heads, h].sort((a, b) => a - b);
            else state.heads = on && state.heads.length === 1 ? [] : [h];
            update();
          } });
        button.style.borderBottomColor = headColour(h);
        buttons.push(button);
      });
      parts.push(make("div", { className: "heads", role: "group", "aria-label": "Heads; shift-click chooses several" }, make("span", { className: "name", textContent: "Head" }), ...buttons));
    }
    parts.push(make("div", {}, make("button", { textContent: "words", title: "Words instead of tokens", "aria-pressed": String(state.words),
      onclick: () => { state.words = !state.words, state.query = state.key = -1, update(); } })));
    const focused = document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.id;
    controls.replaceChildren(...parts);
    if (focused) [...controls.querySelectorAll("button, select")].find(e => e.id === focused || e.getAttribute("aria-label") === focused)?.focus();
  }

  function drawTabs() {
    const fitting = modes.filter(m => m.fits()), held = tabs.contains(document.activeElement);
    tabs.replaceChildren(...fitting.map(m => make("button", { role: "tab", id: `tab-${m.name}`, textContent: m.title, "aria-controls": "panel",
      "aria-selected": String(m.name === state.mode), tabIndex: m.name === state.mode ? 0 : -1,
      onclick: () => { state.mode = m.name, update(); } })));
    host.setAttribute("aria-labelledby", `tab-${state.mode}`);
    const chosen = tabs.querySelector("[aria-selected=true]");
    if (held) chosen.focus();
    tabs.scrollLeft = Math.max(0, chosen.offsetLeft + chosen.offsetWidth - tabs.offsetLeft - tabs.clientWidth + 8);
  }
  tabs.addEventListener("keydown", event => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault(), event.stopPropagation();
    const fitting = modes.filter(m => m.fits()), now = fitting.findIndex(m => m.name === state.mode);
    state.mode = fitting[(now + by + fitting.length) % fitting.length].name;
    update();
  });

  function drawGiven() {
    const m = map(), bold = text => make("b", { textContent: text });
    given.replaceChildren(bold(m.text), ...(m.translation !== undefined ? [" → ", bold(m.translation)] : []),
      ...(m.generatedText !== undefined ? [make("span", { textContent: m.generatedText, title: "what the model wrote" })] : []),
      ...(m.truncated ? [make("span", { className: "note", textContent: ` (${m.truncated} tokens were cut off: the model takes no more)` })] : []));
  }

  function update() {
    if (!modes.find(m => m.name === state.mode).fits()) state.mode = "heat";
    theme.textContent = `theme: ${root.dataset.theme ?? "auto"}`;
    mixRamp();
    findSides();
    drawGiven(), drawControls(), drawTabs();
    tip.hidden = true;
    host.replaceChildren();
    modes.find(m => m.name === state.mode).show(host);
    describe();
    writeAddress();
  }

  const themes = ["auto", "light", "dark"];
  const theme = make("button", { className: "quiet", textContent: "theme", onclick: () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % 3];
    if (next === "auto") delete root.dataset.theme; else root.dataset.theme = next;
    update();
  } });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("select")) return;
    const v = view();
    const turnHead = by => {  // mean, 0, 1, … and round
      const now = state.heads.length ? state.heads[0] : -1, count = v.heads.length + 1, to = (now + 1 + by + count) % count - 1;
      state.heads = to < 0 ? [] : [to];
    };
    const turnLayer = by => {
      const all = [...v.layers.keys(), ...(v.rollout ? ["r"] : [])];
      state.layer = all[(all.indexOf(state.layer) + by + all.length) % all.length];
    };
    const fitting = modes.filter(m => m.fits());
    if (event.key === "[") turnLayer(-1);
    else if (event.key === "]") turnLayer(1);
    else if (event.key === ",") turnHead(-1);
    else if (event.key === ".") turnHead(1);
    else if (event.key === "w") state.words = !state.words, state.query = state.key = -1;
    else if (/^[1-9]$/.test(event.key) && fitting[event.key - 1]) state.mode = fitting[event.key - 1].name;
    else return;
    event.preventDefault();
    const inside = host.contains(document.activeElement);
    update();
    if (inside) host.querySelector("[tabindex='0']")?.focus();
  });

  const keys = make("details", {}, make("summary", { textContent: "Keys" }));
  for (const [key, meaning] of [["[ ]", "layer"], [", .", "head"], ["1 … 6", "kind of picture"], ["w", "words or tokens"], ["arrows", "token"]])
    keys.append(make("kbd", { textContent: key }), ` ${meaning}   `);

  app.replaceChildren(
    make("header", {}, make("h1", { textContent: document.title }), make("span", { className: "model", textContent: maps.length ? maps[0].kind : "" }), theme));
  if (maps.length === 0) {
    app.append(make("p", { textContent: "There is no attention on this page." }));
    return;
  }
  app.append(given, controls, tabs, status, host, keys, tip);
  addEventListener("hashchange", () => { readAddress(), update(); });
  readAddress();
  update();
  // When the first picture was there, for those who measure: drawn, and then shown.
  const ready = () => { root.dataset.ready = Math.round(performance.now()); };
  ready();
  requestAnimationFrame(() => requestAnimationFrame(ready));
})();
