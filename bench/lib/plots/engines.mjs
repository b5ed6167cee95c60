// The differences between versions of Node.js.
import { round } from '../figures.mjs'
import { sumOf } from './cost.mjs'
import { digits, source, table } from './markdown.mjs'

export const engines = {
  needs: ['engines'],

  tableOf(figures) {
    const rows = figures.map(({ version, submit, flow, start }) => [
      version,
      round(submit.perSecond),
      digits(submit.ratio),
      round(flow.perSecond),
      round(sumOf(flow.microseconds)),
      round(start.ms),
      round(start.processorMs),
    ])
    const head = [
      'Node.js',
      '/submit a second',
      'of bare Fastify',
      'flow, tx/s',
      'µs per transaction',
      'start ms',
      'of the processor',
    ]
    return table([head, ...rows])
  },

  write({ engines: measured }) {
    const what = `Flows of ${measured.seconds} s over three roles; starts from a template`
    return [engines.tableOf(measured.engines), source(measured, what)].join('\n\n')
  },
}
