import { h, render } from './dom.js';
import { formatMinute } from './format.js';

// Charts of sixty minutes. Each has a text summary and a table for people who cannot see it.

const darkTheme = matchMedia('(prefers-color-scheme: dark)');

/**
 * A chart of values per minute: a bar chart of one series, or a line chart of several on a
 * logarithmic scale.
 *
 * Settings:
 * - title
 * - series: each with a label, a colour (the name of a custom property) and optionally a dash
 * - format: formats a value
 * - decade: formats a power of ten on the logarithmic scale
 * - ceiling: where to draw values above the largest measurable one, which the API reports as -1
 */
export class MinuteChart {
  #settings;
  #chart = null;
  #minutes = [];
  #values = [];
  #plot = h('div', { class: 'plot', role: 'img' });
  #summary = h('p', { class: 'minor' });
  #table = h('div', { class: 'scroll tall', tabindex: '0', role: 'group' });
  #details = h(
    'details',
    { on: { toggle: () => this.#showTable() } },
    h('summary', {}, 'Show as table'),
    this.#table,
  );
  #onThemeChange = () => this.#draw();

  constructor(settings) {
    this.#settings = settings;
    this.#table.setAttribute('aria-label', settings.title);
    this.element = h(
      'figure',
      { class: 'chart' },
      h('figcaption', {}, h('h3', {}, settings.title), this.#summary),
      this.#plot,
      settings.series.length > 1 && legend(settings.series),
      this.#details,
    );
    darkTheme.addEventListener('change', this.#onThemeChange);
  }

  /** Shows the values of each series, one per minute (an instant), and a short summary. */
  show(minutes, values, summary) {
    render(this.#summary, summary);
    if (JSON.stringify([minutes, values]) === JSON.stringify([this.#minutes, this.#values])) {
      return;
    }
    this.#minutes = minutes;
    this.#values = values;
    this.#plot.setAttribute('aria-label', `${this.#settings.title}. ${this.#describe()}`);
    if (this.#chart) {
      this.#chart.data.labels = minutes.map(formatMinute);
      this.#plotted().forEach((data, i) => {
        this.#chart.data.datasets[i].data = data;
      });
      this.#setScale();
      this.#chart.update();
    } else {
      this.#draw();
    }
    this.#showTable();
  }

  close() {
    darkTheme.removeEventListener('change', this.#onThemeChange);
    this.#chart?.destroy();
  }

  #describe() {
    const { series, format } = this.#settings;
    return series
      .map(({ label }, i) => {
        const data = this.#plotted()[i];
        const max = Math.max(0, ...data.filter((value) => value !== null));
        if (max === 0) {
          return `${label}: none.`;
        }
        const at = data.indexOf(max);
        return `${label}: maximum ${format(this.#values[i][at])} at ${formatMinute(this.#minutes[at])}.`;
      })
      .join(' ');
  }

  #showTable() {
    if (!this.#details.open) {
      return;
    }
    const { series, format } = this.#settings;
    const heading = (text, attributes) => h('th', { scope: 'col', ...attributes }, text);
    render(this.#table, h(
      'table',
      { 'aria-label': this.#settings.title },
      h('thead', {}, h('tr', {}, heading('Minute'), series.map(({ label }) => heading(label, { class: 'number' })))),
      h('tbody', {}, this.#minutes.map((at, i) => h(
        'tr',
        {},
        h('th', { scope: 'row' }, formatMinute(at)),
        this.#values.map((data) =>
          h('td', { class: 'number' }, data[i] === null ? '–' : format(data[i]))),
      ))),
    ));
  }

  #plotted() {
    return this.#values.map((data) => data.map((value) => (value < 0 ? this.#settings.ceiling : value)));
  }

  #draw() {
    this.#chart?.destroy();
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(name).trim();
    const { series, format, decade } = this.#settings;
    const bars = series.length === 1;
    const ticks = { color: colour('--muted'), font: { family: css.fontFamily, size: 12 } };
    const canvas = h('canvas');
    render(this.#plot, canvas);
    this.#chart = new window.Chart(canvas, {
      type: bars ? 'bar' : 'line',
      data: {
        labels: this.#minutes.map(formatMinute),
        datasets: this.#plotted().map((data, i) => ({
          data,
          label: series[i].label,
          backgroundColor: colour(series[i].colour),
          borderColor: colour(series[i].colour),
          borderWidth: bars ? 0 : 2,
          borderDash: series[i].dash,
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
                (bars ? '' : `${series[datasetIndex].label}: `)
                  + format(this.#values[datasetIndex][dataIndex]),
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
                ticks: { ...ticks, precision: 0, maxTicksLimit: 5, callback: (value) => format(value) },
              }
            : {
                type: 'logarithmic',
                min: 1,
                grid: { color: colour('--grid') },
                border: { display: false },
                ticks: { ...ticks, autoSkip: false, callback: decade },
                // Only decades, and each of them, whatever fits between them.
                afterBuildTicks: (axis) => {
                  axis.ticks = decades(axis.min, axis.max).map((value) => ({ value }));
                },
              },
        },
      },
    });
    this.#setScale();
    this.#chart.update();
  }

  // The maximum is a power of ten, so that the scale stays the same while values change.
  #setScale() {
    if (this.#settings.series.length > 1) {
      const max = Math.max(1_000, ...this.#plotted().flat().filter((value) => value !== null));
      this.#chart.options.scales.y.max = 10 ** Math.ceil(Math.log10(max));
    }
  }
}

// Both are powers of ten.
function decades(min, max) {
  return Array.from({ length: Math.round(Math.log10(max / min)) + 1 }, (_, i) => min * 10 ** i);
}

function legend(series) {
  return h('ul', { class: 'legend', 'aria-hidden': 'true' }, series.map(({ label, dash }) =>
    h('li', { class: dash ? 'line dashed' : 'line' }, label)));
}
