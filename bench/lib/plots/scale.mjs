// Several processes of a role, on the cores of one machine.
import { round } from '../figures.mjs'
import { offered, plotOf, roleBars, sumOf } from './charts.mjs'
import { image, source, table } from './tables.mjs'

const title = 'Processor time per transaction with several processes of a role, in the order of the table'
const nameOf = ({ processes }) =>
  Object.entries(processes)
    .map(([role, count]) => `${count} × ${role}`)
    .join(', ') || 'one of each'

export const scale = {
  needs: ['scale'],

  write({ scale }) {
    const roles = Object.keys(scale.flows[0].microseconds)
    return [
      table([
        ['', '', 'tx/s', ...roles.map((role) => `${role} µs`), 'sum µs', 'accepted → committed s'],
        ...scale.flows.map((flow) => [
          nameOf(flow),
          offered(flow.rate),
          round(flow.perSecond),
          ...roles.map((role) => round(flow.microseconds[role])),
          round(sumOf(flow.microseconds)),
          flow.fromAcceptanceS.map((each) => each.toFixed(1)).join(' / '),
        ]),
      ]),
      image('scale', title),
      source(scale, `Runs of ${round(scale.seconds)} s over ${round(scale.outputs)} outputs`),
    ].join('\n\n')
  },

  plots({ scale: { flows } }) {
    const parts = flows.flatMap((flow) =>
      Object.entries(flow.microseconds).map(([role, each]) => ({
        rate: offered(flow.rate),
        processes: nameOf(flow),
        role,
        each,
      })),
    )
    return {
      scale: plotOf(title, {
        marginLeft: 120,
        marginRight: 150,
        height: 60 + 26 * flows.length,
        x: { label: 'µs per transaction', grid: true },
        y: { label: null, domain: [...new Set(flows.map(nameOf))] },
        fy: { label: null },
        marks: roleBars(parts, { y: 'processes', fy: 'rate' }),
      }),
    }
  },
}
