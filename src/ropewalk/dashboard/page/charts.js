// A small line chart: some lines over time, from nought to what is highest.

import { colour, number, make, span } from "./words.js";

const DASHES = [[], [6, 3], [2, 3]];

export function chart(canvas, legend, times, lines) {
  const box = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.max(1, box.width), Math.max(1, box.height)];
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const top = nice(Math.max(1, ...lines.map((line) => Math.max(0, ...line.values))));
  const [left, right, bottom, above] = [34, width - 6, height - 17, 6];
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 1];
  const x = (at) => left + ((at - first) / Math.max(1e-9, last - first)) * (right - left);
  const y = (value) => bottom - (value / top) * (bottom - above);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = colour("soft");
  pen.strokeStyle = colour("edge");
  pen.lineWidth = 1;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const share of [0, 0.5, 1]) {
    pen.beginPath();
    pen.moveTo(left, y(top * share));
    pen.lineTo(right, y(top * share));
    pen.stroke();
    pen.fillText(number(top * share), left - 5, y(top * share));
  }
  pen.textBaseline = "alphabetic";
  if (times.length > 1) {
    pen.textAlign = "left";
    pen.fillText(`${span(last - first)} ago`, left, height - 3);
    pen.textAlign = "right";
    pen.fillText("now", right, height - 3);
  }
  lines.forEach((line, which) => {
    pen.strokeStyle = colour(line.colour);
    pen.lineWidth = 1.8;
    pen.setLineDash(DASHES[which]);
    pen.beginPath();
    line.values.forEach((value, at) => {
      if (line.steps && at) pen.lineTo(x(times[at]), y(line.values[at - 1]));
      if (at) pen.lineTo(x(times[at]), y(value));
      else pen.moveTo(x(times[at]), y(value));
    });
    pen.stroke();
  });
  pen.setLineDash([]);
  const said = lines.map((line) => `${line.name} ${number(line.values.at(-1) ?? 0)}`);
  canvas.setAttribute("aria-label", `${said.join(", ")}; highest ${number(top)}`);
  legend?.replaceChildren(
    ...lines.map((line, which) => {
      const mark = make("i", { class: "line" });
      mark.style.borderTop = `2px ${["solid", "dashed", "dotted"][which]} ${colour(line.colour)}`;
      return make("span", {}, mark, `${line.name} ${number(line.values.at(-1) ?? 0)}`);
    }),
  );
}

function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

export function overall(network, $) {
  const times = [...network.points.keys()].sort((a, b) => a - b);
  const line = (name, place, tint) => ({ name, colour: tint, values: times.map((at) => network.points.get(at)[place]) });
  chart($("chart-held"), $("chart-held-legend"), times, [line("LVS", 2, "overlay"), line("PVS", 3, "event"), line("conn.", 4, "blue")]);
  chart($("chart-nodes"), $("chart-nodes-legend"), times, [line("up", 0, "overlay"), line("down", 1, "down")]);
  chart($("chart-rates"), $("chart-rates-legend"), times, [line("deliveries", 6, "overlay"), line("events", 5, "event")]);
}
