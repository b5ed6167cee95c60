import { maxChunks } from '@ratatosk/block'
import { leastReserve, openContracts, patienceOf, summonsTerms } from '@ratatosk/protocol'
import { parameters } from '../../../../../contracts/dist/test/evaluate.js'
import { tellStory } from '../../../../../protocol/dist/fraud/test/lying-blocks.js'
import { summonsContracts } from '../../../../../protocol/dist/test/protocol-scene.js'
import { waveOf } from '../../questions.js'
import {
  deepLies,
  deepOutputs,
  groundBlock,
  groundOutputs,
  type HiddenBlock,
  longBlocks,
  toldLies,
} from './hidden-blocks.js'
import type { Pace, RollBacks } from './layer1.js'
import {
  accountOf,
  bledBy,
  type Exchange,
  exchangeOf,
  exchangesOf,
  type Fees,
  inOutage,
  legalSizes,
  lieOf,
  lockedBy,
  partialSilence,
  silence,
  silenceOf,
  type Terms,
  withFunds,
} from './money.js'
import { allPolicies } from './search.js'
import { type Outcome, type Setting, simulate } from './simulate.js'

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const ada = (lovelace: bigint): string => (Number(lovelace) / 1e6).toFixed(2)
const whole = (lovelace: bigint): string => String(lovelace / 1_000_000n)
const ratio = (found: number | undefined): string =>
  found === undefined ? 'the attacker gains' : `1 : ${found.toFixed(2)}`

/** The gains of each side for a block of each legal size, and the losses that one causes, in Markdown. */
export function moneyTables(fees: Fees, terms: Terms): string {
  const { bond, penalty, reward, byteReward } = terms
  return [
    `By [the measured fees](../packages/contracts/COSTS.md), a bond of ${whole(bond)} ada, a penalty of ` +
      `${whole(penalty)}, and rewards of ${ada(reward)} ada and ${byteReward} lovelace for each byte of ` +
      `the redeemer, with 30 questions or 15 reclaims in a transaction. Gains in ada; a loss is negative.`,
    '',
    ...sizesTable(fees, terms),
    '',
    ...ratiosTable(fees, terms),
  ].join('\n')
}

const sizeColumns = [
  'chunks',
  'locked',
  'who asks',
  'who shows',
  'chunks half full: who asks',
  'who shows',
  'block false: who asks',
  'its operator',
]

function sizesTable(fees: Fees, terms: Terms): string[] {
  const [full, half] = [exchangeOf(fees, terms, 'full'), exchangeOf(fees, terms, 'half')]
  return [
    row(...sizeColumns),
    row(...sizeColumns.map(() => '--:')),
    ...legalSizes.map((chunks) => {
      const accounts = [accountOf(full, chunks), accountOf(half, chunks), lieOf(fees, terms, full, chunks)]
      const gains = accounts.flatMap(({ asks, shows }) => [asks, shows])
      return row(chunks.toLocaleString('en-US'), ...[lockedBy(chunks), ...gains].map(ada))
    }),
  ]
}

/** An attack: what the attacker and the victim gain. */
interface Attack {
  readonly what: string
  readonly attacker: bigint
  readonly victim: bigint
}

/** Every attack by questions and silence on a side that keeps what docs/summons.md asks of it. */
export function attacksOf(fees: Fees, terms: Terms): readonly Attack[] {
  const most = legalSizes.at(-1)!
  const kinds = exchangesOf(fees, terms)
  const [full, half] = [exchangeOf(fees, terms, 'full'), exchangeOf(fees, terms, 'half')]
  // Rounded up, as the documents have it.
  const reserve = 1_000_000n * (leastReserve(terms.bond, terms.penalty) / 1_000_000n + 1n)
  const griefs = (of: (exchange: Exchange) => { griefer: bigint; operator: bigint }) =>
    worst(kinds.map(([kind, exchange]) => ({ kind, ...of(exchange) })))
  const [outage, poor] = [
    griefs((exchange) => inOutage(terms, exchange)),
    griefs((exchange) => withFunds(terms, exchange, reserve)),
  ]
  const { silent, others } = silence(fees, terms, 10)
  const { silent: silentInAll, watchers } = silenceOf(fees, terms, 10_000)
  const hides = (exchange: Exchange) => {
    const { asks, shows } = accountOf(exchange, most)
    return { attacker: shows - fees.commit, victim: asks }
  }
  const lies = (exchange: Exchange) => {
    const { asks, shows } = lieOf(fees, terms, exchange, most)
    return { attacker: shows, victim: asks }
  }
  return [
    ...kinds.map(([kind, exchange]) => {
      const { asks, shows } = accountOf(exchange, most)
      const what = `griefer: ${most} questions without need, answer: ${kind}`
      return { what, attacker: asks, victim: shows }
    }),
    {
      what: `griefer: takes the bond in an outage until an hour before the end, answers: ${outage.kind}`,
      attacker: outage.griefer,
      victim: outage.operator,
    },
    {
      what:
        `griefer: takes the bond of an operator with ${whole(reserve)} ada, and blocks behind, answers: ` +
        poor.kind,
      attacker: poor.griefer,
      victim: poor.operator,
    },
    { what: `withholder: a valid block of ${most} full chunks`, ...hides(full) },
    { what: 'withholder: the same of half chunks', ...hides(half) },
    { what: `withholder: a false block of ${most} full chunks`, ...lies(full) },
    { what: 'withholder: the same of half chunks', ...lies(half) },
    { what: 'silent before ten honest blocks of others', attacker: silent, victim: others },
    { what: 'silent about 10,000 own blocks', attacker: silentInAll, victim: watchers },
    ...[1, most / 2, 2 * most, 8 * most].map((shown) => {
      const { silent: attacker, watchers: victim } = partialSilence(fees, terms, shown, waveOf(shown))
      const what = `shows ${shown} of ${waveOf(shown) + shown} chunks of its blocks, and then none`
      return { what, attacker, victim }
    }),
  ]
}

/** The attack at the best ratio for the griefer. */
const worst = <Each extends { readonly griefer: bigint; readonly operator: bigint }>(all: readonly Each[]) =>
  all.reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one))
const rankOf = ({ griefer, operator }: { readonly griefer: bigint; readonly operator: bigint }) =>
  bledBy(griefer, operator) ?? Number.POSITIVE_INFINITY

const ratiosTable = (fees: Fees, terms: Terms): string[] => [
  row('attack', 'attacker', 'victim', 'ratio'),
  row('---', '--:', '--:', '--:'),
  ...attacksOf(fees, terms).map(({ what, attacker, victim }) =>
    row(what, ada(attacker), ada(victim), ratio(bledBy(attacker, victim))),
  ),
]

/** One that is not removed in time is behind all others. */
const rank = ({ end, share }: Outcome): number => (isLost(end) ? 1 + share : share)

export const isLost = (end: Outcome['end']): boolean => end === 'too late' || end === 'none'

/** The outcomes of simulations, by kind of what is hidden. */
type Outcomes = readonly (readonly [what: string, outcomes: readonly Outcome[]])[]

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

/** A layer 1 of the simulation, with its contracts. */
export interface Scene {
  readonly setting: Setting
  /** Slots for an answer. */
  readonly period: number
}

const slots = { zeroTime: 1_700_000_000_000n, zeroSlot: 0n, slotLength: 1000 }
const rules = { parameters, networkId: 0, slots }

interface Rollup {
  readonly maturityWindow: bigint
  readonly pace: Omit<Pace, 'slots' | 'patience'>
  /** Lovelace in an hour. */
  readonly budget?: bigint
}

/** A block every 20 seconds. A watcher reads every five seconds, from a provider that is a block behind. */
export const publicNetwork: Rollup = {
  maturityWindow: 7n * 24n * 3_600_000n,
  pace: { block: 20, seen: 25, validityMs: 300_000, lag: 120, judging: 60 },
  budget: 500_000_000n,
}
/** A block every second. */
export const devnet = (maturityWindow: bigint): Rollup => ({
  maturityWindow,
  pace: { block: 1, seen: 1, validityMs: 300_000, lag: 1, judging: 1 },
})

/** By the security parameter of Cardano, and a usual one. */
export const rollBacks = { deepest: { depth: 2160, most: 1 }, usual: { depth: 30, most: 4 } } as const

export function sceneOf(
  { maturityWindow, pace, budget }: Rollup,
  fees: Pick<Fees, 'askForThirty' | 'askForNode'>,
  options: {
    readonly watchers?: number
    readonly rollBacks?: readonly RollBacks[]
    readonly funds?: bigint
    readonly older?: number
  } = {},
): Scene {
  const summons = summonsTerms(maturityWindow)
  const contracts = openContracts(
    {
      ...summonsContracts.parameters,
      maturityWindow,
      releaseDelay: 2n * maturityWindow,
      verdictPolicies: allPolicies(rules),
      summons,
    },
    0,
  )
  const patience = Number(patienceOf(maturityWindow)) / slots.slotLength
  const { watchers = 1, funds, rollBacks = [], older = 0 } = options
  const setting: Setting = {
    contracts,
    rules,
    pace: { ...pace, slots, patience },
    watchers,
    rollBacks,
    fees: { chunks: fees.askForThirty / 30n, nodes: fees.askForNode },
    older,
    ...(budget !== undefined && { budget }),
    ...(funds !== undefined && { funds }),
  }
  return { setting, period: Number(summons.period) / slots.slotLength }
}

/** The blocks that operators hide, by kind. */
export async function hiddenBlocks(
  most: number,
): Promise<readonly (readonly [what: string, blocks: () => readonly HiddenBlock[]])[]> {
  const story = await tellStory(parameters, slots)
  const [both, levels] = [
    [false, true],
    [16, 32, 62],
  ] as const
  const below = (more: number, ...branches: number[]) =>
    branches.flatMap((each) => both.flatMap((isWithheld) => groundOutputs(story, each, more, isWithheld)))
  return [
    ['every lie, in a block of one chunk', () => toldLies(story)],
    ['lies in ways of 16, 32, 62 levels', () => levels.flatMap((each) => deepLies(story, each))],
    [
      'outputs in ways of 16, 32, 62 levels',
      () => levels.flatMap((each) => both.map((isWithheld) => deepOutputs(story, each, isWithheld))),
    ],
    ['an output below 5, 8, 12, 16 true branches', () => below(0, 5, 8, 12, 16)],
    ['one of 1,000 below 8, 12, 16 true branches', () => below(1000, 8, 12, 16)],
    ['outputs behind 1, 3, 5 ground nibbles', () => [1, 3, 5].map((each) => groundBlock(each))],
    ['thefts in 1, 2, 45 chunks', () => [1, 2, 45].flatMap(longBlocks)],
    ...legalSizes
      .filter((chunks) => chunks > 45 && chunks <= most)
      .map((chunks) => [`thefts in ${chunks} chunks`, () => longBlocks(chunks)] as const),
  ]
}

/** The table of docs/summons.md about time. */
export async function summonsTimes(fees: Fees): Promise<string> {
  const kinds = await hiddenBlocks(maxChunks)
  const deepest = { watchers: 3, rollBacks: [rollBacks.deepest] }
  const simulated = async (options: Parameters<typeof sceneOf>[2]) =>
    outcomesOf(sceneOf(publicNetwork, fees, options), kinds)
  return timeTable([
    ['one watcher', await simulated({})],
    ['three, a roll-back of 12 h', await simulated(deepest)],
  ])
}

/** Simulates all blocks of each kind. */
export async function outcomesOf(
  { setting }: Scene,
  kinds: Awaited<ReturnType<typeof hiddenBlocks>>,
): Promise<readonly (readonly [what: string, outcomes: readonly Outcome[]])[]> {
  const found: (readonly [string, readonly Outcome[]])[] = []
  for (const [what, blocks] of kinds) {
    const outcomes: Outcome[] = []
    for (const block of blocks()) outcomes.push(await simulate(block, setting))
    found.push([what, outcomes])
  }
  return found
}
