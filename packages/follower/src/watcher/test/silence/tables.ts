import { accountsOf, bledBy, type Fees, legalSizes, outageCost, silence, type Terms } from './money.js'
import type { Outcome } from './simulate.js'

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const ada = (lovelace: bigint): string => (Number(lovelace) / 1e6).toFixed(2)
const whole = (lovelace: bigint): string => String(lovelace / 1_000_000n)
const ratio = (found: number | undefined): string =>
  found === undefined ? 'the attacker gains' : `1 : ${found.toFixed(2)}`

/** The gains of each side for a block of each legal size, and the losses that one causes, in Markdown. */
export function moneyTables(fees: Fees, terms: Terms): string {
  const { bond, penalty, reward } = terms
  return [
    `By [the measured fees](../packages/contracts/COSTS.md), a bond of ${whole(bond)} ada, a penalty of ` +
      `${whole(penalty)}, and a reward of ${ada(reward)} for each answer. Gains in ada; a loss is negative.`,
    '',
    ...sizesTable(fees, terms),
    '',
    ...ratiosTable(fees, terms),
  ].join('\n')
}

const sizeColumns = [
  'chunks',
  'griefer',
  'honest operator',
  'locked',
  'all watchers, block valid',
  'its operator, chunks full',
  'half full',
  'all watchers, block false',
  'its operator',
]

const sizesTable = (fees: Fees, terms: Terms): string[] => [
  row(...sizeColumns),
  row(...sizeColumns.map(() => '--:')),
  ...legalSizes.map((chunks) => {
    const { griefing, hiding, lying, locked } = accountsOf(fees, terms, chunks)
    const gains = [griefing.griefer, griefing.operator, locked, hiding.watchers, hiding.full, hiding.half]
    return row(chunks.toLocaleString('en-US'), ...[...gains, lying.watchers, lying.full].map(ada))
  }),
]

function ratiosTable(fees: Fees, terms: Terms): string[] {
  const most = legalSizes.at(-1)!
  const { griefing, hiding, lying } = accountsOf(fees, terms, most)
  const { silent, others } = silence(fees, terms, 10)
  const { answers, griefer, operator } = outageCost(fees, terms)
  const rows: readonly (readonly [who: string, attacker: bigint, whom: string, victim: bigint])[] = [
    [`griefer: asks for ${most} chunks`, griefing.griefer, 'operator', griefing.operator],
    ['griefer: the longest chunks', griefing.griefer, 'operator', griefing.longest],
    [
      `griefer: ${answers + 1n} questions in an outage until an hour before the end`,
      griefer,
      'operator',
      operator,
    ],
    [`withholder: a valid block of ${most} half chunks`, hiding.half, 'watchers', hiding.watchers],
    [`withholder: a false block of ${most} full chunks`, lying.full, 'watchers', lying.watchers],
    ['withholder: the same of half chunks', lying.half, 'watchers', lying.watchers],
    ['silent before ten honest blocks', silent, 'their operators', others],
  ]
  return [
    row('attack', 'attacker', 'victim', 'its gain', 'ratio'),
    row('---', '--:', '---', '--:', '--:'),
    ...rows.map(([who, attacker, whom, victim]) =>
      row(who, ada(attacker), whom, ada(victim), ratio(bledBy(attacker, victim))),
    ),
  ]
}

/** One that is not removed in time is behind all others. */
const rank = ({ end, share }: Outcome): number => (isLost(end) ? 1 + share : share)

export const isLost = (end: Outcome['end']): boolean => end === 'too late' || end === 'none'

/** The outcomes of simulations, by kind of what is hidden. */
export type Outcomes = readonly (readonly [what: string, outcomes: readonly Outcome[]])[]

/** The slowest of each kind, in each setting, in Markdown. */
export function timeTable(settings: readonly (readonly [setting: string, found: Outcomes])[]): string {
  const [[, first] = ['', []]] = settings
  const slowest = (outcomes: readonly Outcome[] = []): string => {
    const [worst] = outcomes.toSorted((one, other) => rank(other) - rank(one))
    return worst === undefined || isLost(worst.end) ? 'not removed' : `${(100 * worst.share).toFixed(1)} %`
  }
  return [
    row('hidden', 'blocks', 'rounds', ...settings.map(([setting]) => setting)),
    row('---', '--:', '--:', ...settings.map(() => '--:')),
    ...first.map(([what, outcomes], place) => {
      const rounds = Math.max(...outcomes.map((each) => each.rounds))
      return row(
        what,
        String(outcomes.length),
        String(rounds),
        ...settings.map(([, found]) => slowest(found[place]?.[1])),
      )
    }),
  ].join('\n')
}
