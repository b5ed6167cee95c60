import { accountsOf, bledBy, type Fees, legalSizes, outageCost, silence, type Terms } from './money.js'
import type { Outcome } from './simulate.js'

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const ada = (lovelace: bigint): string => (Number(lovelace) / 1e6).toFixed(2)
const ratio = (found: number | undefined): string =>
  found === undefined ? 'no loss' : `1 : ${found.toFixed(2)}`

/** What each side pays and gets for a block of each legal size, and what one can make the other lose, in Markdown. */
export function moneyTables(fees: Fees, terms: Terms): string {
  const sizes = legalSizes.map((chunks) => ({ chunks, ...accountsOf(fees, terms, chunks) }))
  const one = accountsOf(fees, terms, 1)
  const behind = silence(fees, terms, 10)
  const outage = outageCost(fees, terms)
  return [
    'Gains in ada; a loss is negative.',
    '',
    row(
      'chunks',
      'asked without need: asker',
      'operator',
      'locked',
      'hidden and valid: all watchers',
      'operator, full chunks',
      'half full',
      'hidden and false: all watchers',
      'operator',
    ),
    row('--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:'),
    ...sizes.map(({ chunks, griefing, hiding, lying, locked }) =>
      row(
        String(chunks),
        ...[griefing.griefer, griefing.operator, locked, hiding.watchers, hiding.full, hiding.half].map(ada),
        ...[lying.watchers, lying.operator].map(ada),
      ),
    ),
    '',
    row('who', 'pays', 'to take from', 'ratio'),
    row('---', '--:', '---', '---'),
    row(
      'who asks for chunks of 12,288 B',
      ada(-one.griefing.griefer),
      `the operator ${ada(-one.griefing.operator)}`,
      ratio(bledBy(one.griefing.griefer, one.griefing.operator)),
    ),
    row(
      'who asks for the longest chunks',
      ada(-one.griefing.griefer),
      `the operator ${ada(-one.griefing.longest)}`,
      ratio(bledBy(one.griefing.griefer, one.griefing.longest)),
    ),
    row(
      'who hides a valid block of 1,024 chunks',
      ada(-sizes.at(-1)!.hiding.full),
      `the watchers ${ada(-sizes.at(-1)!.hiding.watchers)}`,
      ratio(bledBy(sizes.at(-1)!.hiding.full, sizes.at(-1)!.hiding.watchers)),
    ),
    row(
      'who hides a false block of 1,024 chunks',
      ada(-sizes.at(-1)!.lying.operator),
      `the watchers ${ada(-sizes.at(-1)!.lying.watchers)}`,
      ratio(bledBy(sizes.at(-1)!.lying.operator, sizes.at(-1)!.lying.watchers)),
    ),
    row(
      'who is silent before ten honest blocks',
      ada(-behind.silent),
      `their operators ${ada(-behind.others)}`,
      ratio(bledBy(behind.silent, behind.others)),
    ),
    row(
      `who asks ${outage.answers + 1n} questions in an outage until an hour before the deadline`,
      ada(-outage.griefer),
      `the operator ${ada(-outage.operator)}`,
      ratio(bledBy(outage.griefer, outage.operator)),
    ),
  ].join('\n')
}

/** One that is not removed in time is behind all others. */
const rank = ({ end, share }: Outcome): number => (isLost(end) ? 1 + share : share)

export const isLost = (end: Outcome['end']): boolean => end === 'too late' || end === 'none'

/** The outcomes of simulations, those of each name together: the slowest, in Markdown. */
export function timeTable(
  groups: readonly (readonly [what: string, outcomes: readonly Outcome[]])[],
): string {
  return [
    row(
      'hidden',
      'blocks',
      'rounds',
      'the slowest ends by',
      'after % of the window',
      'locked by one watcher, ada',
      'paid by all, ada',
    ),
    row('---', '--:', '--:', '---', '--:', '--:', '--:'),
    ...groups.map(([what, outcomes]) => {
      const slowest = outcomes.reduce((one, other) => (rank(other) > rank(one) ? other : one))
      const { end, share, mostLocked, paid } = slowest
      const rounds = Math.max(...outcomes.map((each) => each.rounds))
      return row(
        what,
        String(outcomes.length),
        String(rounds),
        end,
        (100 * share).toFixed(1),
        ada(mostLocked),
        ada(paid),
      )
    }),
  ].join('\n')
}
