// The costs of a transaction for each role.
import { round } from '../figures.mjs'
import { digits, image, source, table } from './markdown.mjs'
import { plotOf, roleBars } from './svg.mjs'

export const offered = (rate) => (rate ? `${round(rate)}/s offered` : 'as many as are taken')
/** Microseconds of all roles. */
export const sumOf = (microseconds) => Object.values(microseconds).reduce((sum, each) => sum + each, 0)
const title = 'Processor time per transaction by role, in the order of the table'

export const cost = {
  needs: ['flow-split'],

  write({ 'flow-split': flow }) {
    const roles = Object.keys(flow.flows[0].microseconds)
    const rows = flow.flows.map(({ rate, perSecond, ceiling, microseconds, fromAcceptanceS, answersMs }) => [
      offered(rate),
      round(perSecond),
      (perSecond / ceiling).toFixed(2),
      ...roles.map((role) => round(microseconds[role])),
      round(sumOf(microseconds)),
      answersMs.map(digits).join(' / '),
      fromAcceptanceS.map((each) => each.toFixed(1)).join(' / '),
    ])
    const head = [
      '',
      'tx/s',
      'of libsodium',
      ...roles.map((role) => `${role} µs`),
      'sum µs',
      '200 after ms',
      'accepted → committed s',
    ]
    const memory = flow.flows.map(({ rate, memoryMiB }) => [
      offered(rate),
      ...roles.filter((role) => role in memoryMiB).map((role) => round(memoryMiB[role])),
    ])
    const remembered = roles.filter((role) => role in flow.flows[0].memoryMiB)
    return [
      table([head, ...rows]),
      'Pairs are p50 / p95. The largest anonymous memory of each process, in MiB:',
      table([['', ...remembered], ...memory]),
      image('cost', title),
      source(
        flow,
        `Runs of ${round(flow.seconds)} s over ${round(flow.outputs)} outputs of ` +
          `${round(flow.addresses)} addresses`,
      ),
    ].join('\n\n')
  },

  plots({ 'flow-split': flow }) {
    const parts = flow.flows.flatMap(({ rate, microseconds }) =>
      Object.entries(microseconds).map(([role, each]) => ({ rate: offered(rate), role, each })),
    )
    return {
      cost: plotOf(title, {
        marginLeft: 140,
        height: 90 + 50 * flow.flows.length,
        x: { label: 'µs per transaction', grid: true },
        y: { label: null, domain: flow.flows.map(({ rate }) => offered(rate)) },
        marks: roleBars(parts, { y: 'rate' }),
      }),
    }
  },
}
