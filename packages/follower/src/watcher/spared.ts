import { decodeTransaction, effects, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import type { TransactionDraft } from '@ratatosk/ledger/builder'
import type { RecordedTransaction } from '@ratatosk/store'
import type { WatcherContext } from './context.js'

type Spared = Pick<Utxo, 'reference'>

/**
 * Outputs that a new transaction must not pay with: those that recorded ones in flight use, datums of proofs,
 * and outputs of sweeps in flight, because the next process could not follow what spends them.
 */
export async function sparedOf(
  context: WatcherContext,
  { referenceInputs = [] }: Pick<TransactionDraft, 'referenceInputs'> = {},
): Promise<readonly Spared[]> {
  const { verdicts, wallet, sendings, isUndecided } = context
  const pruned = (await verdicts.newestRemoved())?.journal.filter(({ stage }) => stage === 'prune') ?? []
  const open = (await verdicts.open()).filter(isUndecided)
  const proving = open.filter(({ state }) => state !== 'unprovable').flatMap(({ journal }) => journal)
  const sweeps = wallet.inFlight().flatMap((id) => {
    const own = sendings.get(id)?.transaction
    return own?.stage === 'sweep' ? madeBy(own) : []
  })
  const recorded = [...open.flatMap(({ journal }) => journal), ...pruned]
  const needed: Spared[] = []
  for (const each of recorded) if (!(await isIncluded(context, each))) needed.push(...neededBy(each))
  const datums = proving.flatMap(madeBy).filter(({ output }) => output.datum.kind === 'inline')
  const read = new Set(referenceInputs.map(keyOf))
  return [...needed, ...datums, ...sweeps].filter((each) => !read.has(keyOf(each)))
}

/** Whether layer 1 has shown a transaction in a block: its collateral is free again. */
async function isIncluded(
  { layer1, signal, included }: WatcherContext,
  { id }: RecordedTransaction,
): Promise<boolean> {
  if (included.has(id)) return true
  if ((await layer1.status(id, { signal })).kind !== 'confirmed') return false
  included.add(id)
  return true
}

function neededBy({ cbor }: RecordedTransaction): readonly Spared[] {
  const { inputs, referenceInputs, collateralInputs } = decodeTransaction(cbor).body
  return [...inputs, ...referenceInputs, ...collateralInputs].map((reference) => ({ reference }))
}

const madeBy = ({ cbor }: Pick<RecordedTransaction, 'cbor'>): readonly Utxo[] =>
  effects(decodeTransaction(cbor)).produced

const keyOf = ({ reference }: Spared): string => outputReferenceKey(reference)
