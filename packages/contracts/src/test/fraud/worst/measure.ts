import { headerHash } from '@ratatosk/block'
import { outsource, roomBesideRemoval } from '@ratatosk/fraud'
import { complete } from '../../complete.js'
import { engines } from '../../evaluate.js'
import { removeByProof } from '../../queue/removals.js'
import { ada, createWorld, wallet } from '../../world.js'
import { mintingOf } from '../engines.js'
import type { ProvenLie } from '../measure-proof.js'
import { worstLedgerProofs } from './ledger.js'
import { worstTransactionProofs } from './transaction.js'
import { worstWitnessProofs } from './witness.js'

/** The cost of a fraud's costliest proof alone, and with the removal and the slashing. */
export interface WorstCost {
  /** In Markdown: the fraud, and which it is of several. */
  readonly what: string
  readonly alone: { readonly memory: bigint; readonly steps: bigint }
  readonly whole: { readonly memory: bigint; readonly steps: bigint }
  /** Of the transaction that proves, removes and slashes. */
  readonly bytes: number
  /** Datums of reference inputs that hold parts of the proof. */
  readonly datums: number
}

const { scalus } = engines

/** The costliest proofs about the largest transactions that layer 2 allows. */
export const worstCosts = (): WorstCost[] =>
  [...worstLedgerProofs(), ...worstTransactionProofs(), ...worstWitnessProofs()].map(costOf)

function costOf({ what, header, script, redeemer }: ProvenLie): WorstCost {
  const hasLists = what.startsWith('`wrongResolvedHash`')
  const outsourced = outsource(redeemer, roomBesideRemoval, hasLists)
  const { datums } = outsourced
  const proof = outsourced.redeemer(datums.map((_, index) => index))
  const evaluated = scalus(mintingOf({ script, redeemer: proof, name: headerHash(header), datums }))
  if (!evaluated.ok) throw new Error(`${what}: ${evaluated.message}`)
  const removal = removeByProof(createWorld({ verdictPolicies: [script.hash] }), {
    header,
    policy: { script },
    redeemer: proof,
  })
  const holders = datums.map((datum, index) => ({ id: 100 + index, output: { ...wallet(ada(90)), datum } }))
  const whole = { ...removal, referenceInputs: [...holders, ...removal.referenceInputs] }
  const { bytes, units } = complete(whole, scalus)
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
