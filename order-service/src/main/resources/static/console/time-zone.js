import { h } from './dom.js';
import { localZone, showTimesIn, timeZone } from './format.js';

/** The choice between the browser's time zone and UTC, which the browser keeps. */
export function timeZoneSwitch() {
  const zones = [...new Set([localZone(), 'UTC'])];
  return h(
    'select',
    {
      class: 'zone',
      'aria-label': 'Time zone',
      title: 'Time zone of all times',
      on: { change: (event) => showTimesIn(event.target.value) },
    },
    zones.map((zone) => h('option', { value: zone, selected: zone === timeZone() }, zone)),
  );
}
