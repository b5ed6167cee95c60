// What acceptance does one batch at a time.
import { round } from '../figures.mjs'
import { image, source, table } from './markdown.mjs'
import { Plot, plotOf } from './svg.mjs'

const title = 'Transactions a second of the serial part alone, by the way in which it is done'
const nameOf = ({ way, size, writing, workers }) =>
  `${way}, ${round(size)}${workers > 1 ? `, ${workers} workers` : ''}${writing > 1 ? ', overlapped' : ''}`

export const serial = {
  needs: ['serial'],

  write({ serial: { cases, outputs, transactions, rounds, machine } }) {
    const first = (server) => cases.find((each) => each.server === server)
    return [
      table([
        ['way, batch', 'PostgreSQL', 'tx/s', 'µs', 'of it the claims', 'rules before µs', 'WAL B', 'ratio'],
        ...cases.map((each) => [
          nameOf(each),
          each.server,
          round(each.perSecond),
          each.microseconds.toFixed(1),
          each.claiming?.toFixed(1) ?? '',
          each.validated?.toFixed(1) ?? '',
          round(each.wal),
          (each.perSecond / first(each.server).perSecond).toFixed(1),
        ]),
      ]),
      image('serial', title),
      source(
        { machine },
        `Over ${round(outputs)} outputs spent in no order; medians of ${rounds} × ` +
          `${round(transactions)} transactions`,
      ),
    ].join('\n\n')
  },

  plots({ serial: { cases } }) {
    const bars = cases.map((each) => ({ ...each, name: nameOf(each) }))
    return {
      serial: plotOf(title, {
        marginLeft: 170,
        marginRight: 60,
        height: 60 + 30 * bars.length,
        x: { label: 'tx/s', grid: true },
        y: { label: null, domain: [...new Set(bars.map(({ name }) => name))] },
        fy: { label: null },
        marks: [
          Plot.barX(bars, { x: 'perSecond', y: 'name', fy: 'server', fill: 'way' }),
          Plot.text(bars, {
            x: 'perSecond',
            y: 'name',
            fy: 'server',
            text: ({ perSecond }) => round(perSecond),
            textAnchor: 'start',
            dx: 4,
          }),
          Plot.ruleX([0]),
        ],
      }),
    }
  },
}
