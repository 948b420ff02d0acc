#include "serve/view/page.h"

namespace millrace::serve {
namespace {

constexpr const char* page_text = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace</title>
<link rel="icon" href="data:,">
<style>
  body { margin: 1.5rem auto; max-width: 76rem; padding: 0 1rem;
         font: 15px/1.45 Helvetica, Arial, sans-serif; color: #222; background: #fff; }
  h1 { font-size: 1.3rem; margin: 0 0 .2rem; }
  p { margin: 0 0 1rem; color: #555; }
  #pictures { display: grid; gap: 1rem;
              grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); }
  figure { margin: 0; }
  figure img { width: 100%; background: #eee; min-height: 6rem; }
  figcaption { font-variant-numeric: tabular-nums; }
  #gantt { width: 100%; }
  table { border-collapse: collapse; margin: 1rem 0; }
  th, td { text-align: left; padding: .15rem 1.2rem .15rem 0; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<h1 id="name">Millrace</h1>
<p id="line">waiting for the first frame</p>
<div id="pictures"></div>
<table hidden id="groups"><thead><tr><th>group</th><th>frames/s</th><th>frames</th>
<th>mean response</th><th>largest</th><th>bound</th><th>deadline</th><th>missed</th></tr></thead>
<tbody></tbody></table>
<table><thead><tr><th>stage</th><th>processor</th><th>busy</th></tr></thead>
<tbody id="stages"></tbody></table>
<img id="gantt" alt="what the processors did in the last second">
<script>
'use strict';
const by = id => document.getElementById(id);
const made = (tag, text) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  return element;
};
const captions = [];
const most_streams = 4;  // a browser has few connections for all
// One picture after the other, each by a request of its own.
function poll(image, number) {
  const next = () => { image.src = 'picture.jpg?input=' + number + '&' + Date.now(); };
  const later = () => setTimeout(next, Math.max(250, 40 * captions.length));
  image.onload = image.onerror = later;
  next();
}
function add_picture(number, count) {
  const figure = made('figure'), image = made('img'), caption = made('figcaption');
  image.alt = 'annotated pictures';
  if (count > most_streams) {
    poll(image, number);
  } else {
    image.onerror = () => poll(image, number);  // too many watch
    image.src = 'stream?input=' + number;
  }
  figure.append(image, caption);
  by('pictures').append(figure);
  captions.push(caption);
}
function row_of(...texts) {
  const row = made('tr');
  row.append(...texts.map(text => made('td', text)));
  return row;
}
const milliseconds = number => number.toFixed(number < 10 ? 2 : 1) + ' ms';
function text_of(input) {
  const parts = [input.rate_fps.toFixed(1) + ' frames/s', input.frames + ' frames',
                 input.mean_latency_ms.toFixed(1) + ' ms from picture to findings'];
  if (input.dropped !== undefined) parts.push(input.dropped + ' dropped');
  if (input.gaps) parts.push('gone ' + input.gaps + ' times');
  const name = [input.group, input.name].filter(part => part).join(' ');
  return (name ? name + ': ' : '') + parts.join(', ');
}
function show_groups(groups) {
  by('groups').hidden = groups.length === 0;
  by('groups').tBodies[0].replaceChildren(...groups.map(group => row_of(
    group.name, group.rate_fps.toFixed(1), group.frames, milliseconds(group.mean_response_ms),
    milliseconds(group.largest_response_ms),
    group.bound_ms === null ? 'none' : milliseconds(group.bound_ms),
    milliseconds(group.deadline_ms), group.missed)));
}
function show(state) {
  const name = state.application || state.deployment || 'Millrace';
  by('name').textContent = name;
  document.title = name + (state.running ? '' : ' (ended)');
  by('line').textContent = (state.running ? 'running for ' : 'ended after ') +
    state.running_s.toFixed(0) + ' s' +
    (state.skipped ? '; ' + state.skipped + ' pictures cannot be decoded' : '') +
    (state.groups.length && !state.inputs.length ? '; no group has pictures' : '');
  state.inputs.forEach((input, number) => {
    if (number >= captions.length) add_picture(number, state.inputs.length);
    captions[number].textContent = text_of(input);
  });
  show_groups(state.groups);
  by('stages').replaceChildren(...state.stages.map(stage => row_of(
    [stage.group, stage.name].filter(part => part).join(' '), stage.processor,
    (100 * stage.utilisation).toFixed(stage.utilisation < 0.1 ? 1 : 0) + ' %')));
}
async function look() {
  try {
    show(await (await fetch('state.json')).json());
    by('gantt').src = 'gantt.svg?' + Date.now();
  } catch (error) {
    by('line').textContent = 'the run has ended';
    return;
  }
  setTimeout(look, 1000);
}
look();
</script>
</body>
</html>
)html";

}  // namespace

std::string page() { return page_text; }

}  // namespace millrace::serve
