// The text itself, shaded by what one of its tokens looks at.

function showText(host) {
  const { queries, keys } = sides, K = keys.labels.length, values = chosenMatrix();
  const same = view().name !== "cross" && queries.labels.length === K;
  const write = (side, role) => {
    const flow = make("div", { className: "flow" }), marksSpaces = side.texts.some(text => text.startsWith(" "));
    const spans = side.texts.map((text, i) => {
      const pieces = /^##/.test(text) && !state.words;
      const spaced = /^\s/.test(text) || (i > 0 && !pieces && !marksSpaces);
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
  const cold = rgbOf("cold"), hot = rgbOf("hot");
  const paint = () => {
    const row = state.query < 0 ? new Float32Array(K) : values.subarray(state.query * K, (state.query + 1) * K);
    const most = greatest(row) || 1;
    answers.spans.forEach((span, k) => {
      const s = Math.sqrt(row[k] / most), c = cold.map((from, i) => Math.round(from + (hot[i] - from) * s));
      span.style.background = row[k] > 0.002 ? `rgb(${c.join(" ")})` : "";
      span.classList.toggle("hot", s > 0.55);
      span.title = state.query < 0 ? "" : figureOf(row[k]);
    });
    asks.spans.forEach((span, q) => {
      span.classList.toggle("chosen", q === state.query);
      span.setAttribute("aria-pressed", String(q === state.query));
    });
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
