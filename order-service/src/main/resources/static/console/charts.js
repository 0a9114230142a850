import { h, render } from './dom.js';
import { minute } from './format.js';

// Charts of sixty minutes, each with the same in words and as a table for those who do not see it.

const dark = matchMedia('(prefers-color-scheme: dark)');

/**
 * A chart over minutes: bars of one line, or several lines over a scale of powers of ten.
 *
 * Its settings: title; lines, each with a label, a colour (the name of a custom property) and
 * perhaps a dash; write, which says a value; top, where values beyond all bounds (-1) are drawn.
 */
export class MinutesChart {
  #settings;
  #chart = null;
  #minutes = [];
  #values = [];
  #box = h('div', { class: 'plot', role: 'img' });
  #about = h('p', { class: 'minor' });
  #table = h('div', { class: 'scroll tall', tabindex: '0', role: 'group' });
  #details = h(
    'details',
    { on: { toggle: () => this.#showTable() } },
    h('summary', {}, 'As a table'),
    this.#table,
  );
  #recolour = () => this.#draw();

  constructor(settings) {
    this.#settings = settings;
    this.#table.setAttribute('aria-label', settings.title);
    this.element = h(
      'figure',
      { class: 'chart' },
      h('figcaption', {}, h('h3', {}, settings.title), this.#about),
      this.#box,
      settings.lines.length > 1 && legend(settings.lines),
      this.#details,
    );
    dark.addEventListener('change', this.#recolour);
  }

  /** Shows minutes (instants) and a list of values for each line; about says it in short. */
  show(minutes, values, about) {
    render(this.#about, about);
    if (JSON.stringify([minutes, values]) === JSON.stringify([this.#minutes, this.#values])) {
      return;
    }
    this.#minutes = minutes;
    this.#values = values;
    this.#box.setAttribute('aria-label', `${this.#settings.title}. ${this.#inWords()}`);
    if (this.#chart) {
      this.#chart.data.labels = minutes.map(minute);
      this.#drawable().forEach((line, i) => {
        this.#chart.data.datasets[i].data = line;
      });
      this.#scale();
      this.#chart.update();
    } else {
      this.#draw();
    }
    this.#showTable();
  }

  close() {
    dark.removeEventListener('change', this.#recolour);
    this.#chart?.destroy();
  }

  #inWords() {
    const { lines, write } = this.#settings;
    return lines
      .map(({ label }, i) => {
        const known = this.#drawable()[i].filter((value) => value !== null);
        const most = Math.max(0, ...known);
        if (most === 0) {
          return `${label}: none.`;
        }
        const at = this.#drawable()[i].indexOf(most);
        return `${label}: at most ${write(this.#values[i][at])}, at ${minute(this.#minutes[at])}.`;
      })
      .join(' ');
  }

  #showTable() {
    if (!this.#details.open) {
      return;
    }
    const { lines, write } = this.#settings;
    const heading = (text, attributes) => h('th', { scope: 'col', ...attributes }, text);
    render(this.#table, h(
      'table',
      { 'aria-label': this.#settings.title },
      h('thead', {}, h('tr', {}, heading('Minute'), lines.map(({ label }) => heading(label, { class: 'number' })))),
      h('tbody', {}, this.#minutes.map((at, i) => h(
        'tr',
        {},
        h('th', { scope: 'row' }, minute(at)),
        this.#values.map((line) => h('td', { class: 'number' }, line[i] === null ? '–' : write(line[i]))),
      ))),
    ));
  }

  #drawable() {
    return this.#values.map((line) => line.map((value) => (value < 0 ? this.#settings.top : value)));
  }

  #draw() {
    this.#chart?.destroy();
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(name).trim();
    const { lines, write } = this.#settings;
    const bars = lines.length === 1;
    const ticks = { color: colour('--muted'), font: { family: css.fontFamily, size: 12 } };
    const canvas = h('canvas');
    render(this.#box, canvas);
    this.#chart = new window.Chart(canvas, {
      type: bars ? 'bar' : 'line',
      data: {
        labels: this.#minutes.map(minute),
        datasets: this.#drawable().map((data, i) => ({
          data,
          label: lines[i].label,
          backgroundColor: colour(lines[i].colour),
          borderColor: colour(lines[i].colour),
          borderWidth: bars ? 0 : 2,
          borderDash: lines[i].dash,
          pointRadius: 2,
          barPercentage: 0.94,
          categoryPercentage: 0.94,
        })),
      },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: 'index', intersect: false },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: !bars,
            callbacks: {
              label: ({ datasetIndex, dataIndex }) =>
                (bars ? '' : `${lines[datasetIndex].label}: `)
                  + write(this.#values[datasetIndex][dataIndex]),
            },
          },
        },
        scales: {
          x: { grid: { display: false }, ticks: { ...ticks, maxRotation: 0, autoSkipPadding: 18 } },
          y: bars
            ? {
                beginAtZero: true,
                suggestedMax: 4,
                grid: { color: colour('--grid') },
                border: { display: false },
                ticks: { ...ticks, precision: 0, maxTicksLimit: 5, callback: (value) => write(value) },
              }
            : {
                type: 'logarithmic',
                min: 1,
                grid: { color: colour('--grid') },
                border: { display: false },
                ticks: { ...ticks, callback: (value) => (isPowerOfTen(value) ? write(value) : null) },
              },
        },
      },
    });
    this.#scale();
    this.#chart.update();
  }

  // Whole powers of ten, so that the scale stands still while values change.
  #scale() {
    if (this.#settings.lines.length > 1) {
      const most = Math.max(1_000, ...this.#drawable().flat().filter((value) => value !== null));
      this.#chart.options.scales.y.max = 10 ** Math.ceil(Math.log10(most));
    }
  }
}

function isPowerOfTen(value) {
  return Number.isInteger(Math.log10(value));
}

function legend(lines) {
  return h('ul', { class: 'legend', 'aria-hidden': 'true' }, lines.map(({ label, dash }) =>
    h('li', { class: dash ? 'line dashed' : 'line' }, label)));
}
