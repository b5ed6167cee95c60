import { maxChunks } from '@ratatosk/block'
import { openContracts, patienceOf, summonsTerms } from '@ratatosk/protocol'
import { parameters } from '../../../../../contracts/dist/test/evaluate.js'
import { tellStory } from '../../../../../fraud/dist/test/lying-blocks.js'
import { summonsContracts } from '../../../../../protocol/dist/test/protocol-scene.js'
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
import { type Fees, legalSizes } from './money.js'
import { allPolicies } from './search.js'
import { type Outcome, type Setting, simulate } from './simulate.js'
import { timeTable } from './tables.js'

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
