import { parseArgs } from 'node:util'
import { type Command, command, wholeNumber } from '../frame/command.js'
import { connect, nodeArguments } from '../frame/node-connection.js'
import { type LateReason, type LoadReport, runLoad } from '../load/run-load.js'

const mostPerSecond = 1000
const mostSeconds = 3600

const payments = command(
  'load',
  "Submit payments of a devnet's test wallets at a rate, and report what came of them",
  {
    ...nodeArguments,
    url: {
      ...nodeArguments.url,
      description: 'The node; several: the others get payments too, and those that one does not answer',
    },
    rate: { type: 'string', valueHint: 'number', default: '10', description: 'Payments per second' },
    seconds: { type: 'string', valueHint: 'number', default: '10', description: 'For how long' },
  },
  async (args, shell, given) => {
    const rate = wholeNumber('rate', args.rate, mostPerSecond)
    const seconds = wholeNumber('seconds', args.seconds, mostSeconds)
    const [first, ...others] = await Promise.all(urlsOf(given).map((url) => connect({ ...args, url }, shell)))
    if (first === undefined) throw new TypeError('there is at least the default')
    const report = await runLoad([first, ...others], { rate, seconds })
    const { submitted, accepted, late, failed } = report
    const ok = accepted === submitted && late === 0 && sumOf(failed) === 0
    return { value: report, lines: linesOf(report), ok }
  },
)

export const load: Command = { ...payments, repeatable: 'url' }

/** Each `--url`; undefined for the default. */
function urlsOf(given: readonly string[]): readonly (string | undefined)[] {
  const options = { url: { type: 'string', multiple: true } } as const
  const { url = [undefined] } = parseArgs({ args: [...given], options, strict: false }).values
  return url as (string | undefined)[]
}

/** Why payments are left out. */
const reasons: Readonly<Record<LateReason, string>> = {
  waiting: 'every chain waited for an answer: the node is too slow for the rate',
  ended: 'every chain had spent its funds',
  behind: 'this machine was too slow to send them in time',
}

function linesOf({
  submitted,
  accepted,
  pending,
  rejected,
  failed,
  answerMs,
  acceptedMs,
  ...rest
}: LoadReport) {
  const { late, lateBecause, chains } = rest
  const times = ({ p50, p95, p99, max }: LoadReport['answerMs']) =>
    `p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms, max ${max} ms`
  const codes = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([code, count]) => `, ${count} ${code}`)
  return [
    `submitted  ${submitted} by ${chains} chains of payments; ${late} left out`,
    ...(['waiting', 'ended', 'behind'] as const)
      .filter((reason) => lateBecause[reason] > 0)
      .map((reason) => `left out   ${lateBecause[reason]}, because ${reasons[reason]}`),
    `accepted   ${accepted}; ${pending} without a result`,
    `rejected   ${sumOf(rejected)}${codes(rejected).join('')}`,
    `failed     ${sumOf(failed)}${codes(failed).join('')}`,
    `answer     ${times(answerMs)}`,
    `accepted   ${times(acceptedMs)}`,
  ]
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
