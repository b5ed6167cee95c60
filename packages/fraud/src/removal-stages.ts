import { headerHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type { PlutusScript, ProvableRules } from '@ratatosk/contracts'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import {
  type Contracts,
  inOrder,
  provideScripts,
  type RemovalByVerdict,
  removeInvalidBlock,
} from '@ratatosk/protocol'
import { type TransactionDraft, toOutput } from '@ratatosk/transaction'
import type { AccusedBlock } from './accused-block.js'
import { longestSupplied, suppliedByDatum } from './supplied-bytes.js'

/** What a removal by a fraud proof needs besides the contracts. */
export interface RemovalByFraud extends Pick<RemovalByVerdict, 'queue' | 'registry' | 'referenceScripts'> {
  readonly block: AccusedBlock
  /**
   * The rules of the layer 2, as the verdict policies have them. Without them, only frauds of the ledger
   * policy are found.
   */
  readonly rules?: ProvableRules
  /** The prover's outputs: those that drafts of earlier stages have made. */
  readonly held?: readonly Utxo[]
  /** The prover's address in the bytes of CIP-19. Without it, there is no stage `datum`. */
  readonly address?: Uint8Array
}

/**
 * What a draft does: `removal` removes the block and slashes its operator, and mints the verdict unless
 * one is held. Where that does not fit into a transaction, `datum` first pays an output whose datum is
 * part of the proof, and `verdict` mints the verdict.
 */
export type RemovalStage = 'datum' | 'verdict' | 'removal'

interface Stage {
  readonly stage: RemovalStage
  /** What is to be sent, and drafts that must be accepted too for it to be worth sending. */
  readonly drafts: readonly [TransactionDraft, ...TransactionDraft[]]
}

type DraftWith = (redeemer: Uint8Array) => TransactionDraft

/**
 * What may be sent next to remove a block, the best first.
 *
 * @param script the policy of the verdict
 * @param redeemer the proof
 */
export function* stagesOf(
  contracts: Contracts,
  { block, held = [], address, ...others }: RemovalByFraud,
  script: PlutusScript,
  redeemer: Uint8Array,
): Generator<Stage, void> {
  const hash = toHex(headerHash(block.header))
  const policy = toHex(script.hash)
  const wanted = { ...others, headerHash: hash }
  const verdict = held.find(({ output }) => output.value.assets.get(policy)?.has(hash))
  if (verdict !== undefined) {
    const draft = removeInvalidBlock(contracts, { ...wanted, verdict: { kind: 'held', utxo: verdict } })
    yield { stage: 'removal', drafts: [draft] }
    return
  }
  const remove: DraftWith = (proof) =>
    removeInvalidBlock(contracts, { ...wanted, verdict: { kind: 'minted', policy: script, redeemer: proof } })
  const mint: DraftWith = (proof) => ({
    ...provideScripts([{ script, policy }], others.referenceScripts ?? []),
    mint: [{ policy, assets: new Map([[hash, 1n]]), redeemer: proof }],
  })
  for (const [stage, draftWith] of [
    ['removal', remove],
    ['verdict', mint],
  ] as const) {
    yield { stage, drafts: [draftWith(redeemer)] }
    const bytes = longestSupplied(redeemer)
    if (bytes === undefined) continue
    const data = encodePlutusData(bytes)
    const holder = held.find(
      ({ output: { datum } }) => datum.kind === 'inline' && equalBytes(datum.data, data),
    )
    if (holder) yield { stage, drafts: [withDatum(draftWith, redeemer, bytes, holder)] }
    else if (address) {
      const output = { address, datum: { kind: 'inline', data } } as const
      const later = withDatum(draftWith, redeemer, bytes, standInFor(output))
      yield { stage: 'datum', drafts: [{ outputs: [output] }, later] }
    }
  }
}

/** A draft whose proof takes bytes from the datum of an output that it refers to. */
function withDatum(draftWith: DraftWith, redeemer: Uint8Array, bytes: Uint8Array, holder: Utxo) {
  const { referenceInputs = [] } = draftWith(redeemer)
  const all = [...referenceInputs, holder]
  const keys = [...new Set(inOrder(all).map(({ reference }) => outputReferenceKey(reference)))]
  const index = keys.indexOf(outputReferenceKey(holder.reference))
  return { ...draftWith(suppliedByDatum(redeemer, bytes, index)), referenceInputs: all }
}

/** An output as it will be, under a reference that no output has. */
const standInFor = (output: Pick<Parameters<typeof toOutput>[0], 'address' | 'datum'>): Utxo => ({
  reference: { transactionId: new Uint8Array(32).fill(255), index: 0 },
  output: toOutput({ ...output, value: { lovelace: 0n, assets: new Map() } }),
})
