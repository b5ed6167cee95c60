import { headerHash } from '@ratatosk/block'
import { outsource, roomBesideRemoval } from '@ratatosk/protocol/fraud'
import { complete, engines } from '../../evaluate.js'
import { removeByProof } from '../../queue/removals.js'
import type { TestTransaction } from '../../transaction.js'
import { ada, createWorld, wallet } from '../../world.js'
import { mintingOf, type ProvenLie } from '../minting.js'
import type { Ways } from './largest.js'
import { worstLedgerProofs } from './ledger.js'
import { worstTransactionProofs } from './transaction.js'
import { worstWitnessProofs } from './witness.js'

/** The cost of a fraud's costliest proof alone, and with the removal and the slashing. */
export interface WorstCost {
  /** In Markdown: the fraud, and which it is of several. */
  readonly what: string
  readonly alone: { readonly memory: bigint; readonly steps: bigint }
  readonly whole: { readonly memory: bigint; readonly steps: bigint }
  /** Of the transaction that proves, removes and slashes, or that mints the token of a part. */
  readonly bytes: number
  /** Datums of reference inputs that hold parts of the proof. */
  readonly datums: number
}

const { cek } = engines

/** The costliest proofs about the largest transactions that layer 2 allows. */
export const worstCosts = (ways: Ways = 'many'): WorstCost[] =>
  [...worstLedgerProofs(ways), ...worstTransactionProofs(ways), ...worstWitnessProofs(ways)].map(costOf)

function costOf(lie: ProvenLie): WorstCost {
  const { what, header, script, redeemer, parts = [], part } = lie
  const tokens = parts.map(({ name }) => name)
  const outsourced = outsource(redeemer, roomBesideRemoval)
  const { datums } = outsourced
  const proof = outsourced.redeemer(datums.map((_, index) => index + tokens.length))
  const name = part ?? headerHash(header)
  const minting = mintingOf({ script, redeemer: proof, name, datums: [] })
  const holders = [
    ...tokens.map((held) => wallet(ada(2), [{ policy: script.hash, name: held, quantity: 1n }])),
    ...datums.map((datum) => ({ ...wallet(ada(90)), datum })),
  ].map((output, index) => ({ id: 100 + index, output }))
  const withHolders = (transaction: TestTransaction): TestTransaction => ({
    ...transaction,
    referenceInputs: [...holders, ...transaction.referenceInputs],
  })
  const evaluated = cek(withHolders(minting))
  if (!evaluated.ok) throw new Error(`${what}: ${evaluated.message}`)
  const world = createWorld({ verdictPolicies: [script.hash] })
  const removal = removeByProof(world, { header, policy: { script }, redeemer: proof })
  const { bytes, units } = complete(withHolders(part ? minting : removal), cek)
  const [alone] = evaluated.units
  return { what, alone: alone!, whole: units, bytes: bytes.length, datums: datums.length }
}

interface Limits {
  readonly memory: bigint
  readonly steps: bigint
  readonly size: bigint
}

/** The table of {@link worstCosts} in Markdown, by the functions and the limits of the other tables. */
export const worstRows = (
  row: (...cells: readonly (string | number)[]) => string,
  share: (part: bigint, whole: bigint) => string,
  limits: Limits,
): string[] => [
  'The costliest proofs about the largest transactions that layer 2 allows. What a redeemer has no room ' +
    'for is in datums of reference inputs.',
  '',
  row('fraud proof', 'memory alone', 'steps', 'with removal and slash', 'steps', 'bytes', 'datums'),
  '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
  ...worstCosts().map(({ what, alone, whole, bytes, datums }) =>
    row(
      what,
      share(alone.memory, limits.memory),
      share(alone.steps, limits.steps),
      share(whole.memory, limits.memory),
      share(whole.steps, limits.steps),
      share(BigInt(bytes), limits.size),
      datums,
    ),
  ),
]
