import { headerHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type { PlutusScript, ProvableRules } from '@ratatosk/contracts'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { type TransactionDraft, toOutput } from '@ratatosk/ledger/builder'
import {
  type Contracts,
  inOrder,
  provideScripts,
  type RemovalByVerdict,
  removeInvalidBlock,
} from '@ratatosk/protocol'
import type { AccusedBlock } from './accused-block.js'
import type { ProvenFraud } from './find-fraud.js'
import { type Outsourced, outsource, roomBesideRemoval } from './supplied-bytes.js'

/** The inputs of a removal by a fraud proof besides the contracts. */
export interface RemovalByFraud extends Pick<RemovalByVerdict, 'queue' | 'registry' | 'referenceScripts'> {
  readonly block: AccusedBlock
  /**
   * The rules of the layer 2, as the verdict policies have them. Without them, only frauds of the ledger
   * policy are found.
   */
  readonly rules?: ProvableRules
  /** A proof that is known already: nothing is searched. */
  readonly proven?: ProvenFraud
  /** The prover's outputs: those that drafts of earlier stages have made. */
  readonly held?: readonly Utxo[]
  /** The prover's address in the bytes of CIP-19. Without it, there is no stage `datum`. */
  readonly address?: Uint8Array
}

/**
 * The effect of a draft: `removal` removes the block and slashes its operator, and mints the verdict unless
 * one is held. Where that does not fit into a transaction, `datum` first pays an output whose datum is
 * part of the proof, and `verdict` mints the verdict.
 */
export type RemovalStage = 'datum' | 'verdict' | 'removal'

interface Stage {
  readonly stage: RemovalStage
  /** The draft to send, and drafts that must be accepted too for it to be worth sending. */
  readonly drafts: readonly [TransactionDraft, ...TransactionDraft[]]
}

type DraftWith = (redeemer: Uint8Array) => TransactionDraft

/** A proof that was found, and the policy that it is for. */
interface Proven {
  readonly script: PlutusScript
  readonly redeemer: Uint8Array
  /** Whether lists of the redeemer may be in datums. */
  readonly hasLists: boolean
}

/** Bytes of a redeemer that leave room for a removal, with a small registry and with larger ones. */
const rooms = [Number.POSITIVE_INFINITY, roomBesideRemoval, 6144, 2048]

/** Bytes of datums that a transaction can pay outputs with. */
const datumsRoom = 15_000

/** The drafts that may be sent next to remove a block, the best first. */
export function* stagesOf(
  contracts: Contracts,
  { block, held = [], address, proven: _, ...others }: RemovalByFraud,
  { script, redeemer, hasLists }: Proven,
): Generator<Stage, void> {
  const hash = headerHash(block.header)
  const name = toHex(hash)
  const policy = toHex(script.hash)
  const wanted = { ...others, headerHash: hash }
  const verdict = held.find(({ output }) => output.value.assets.get(policy)?.has(name))
  if (verdict !== undefined) {
    const draft = removeInvalidBlock(contracts, { ...wanted, verdict: { kind: 'held', utxo: verdict } })
    yield { stage: 'removal', drafts: [draft] }
    return
  }
  const remove: DraftWith = (proof) =>
    removeInvalidBlock(contracts, { ...wanted, verdict: { kind: 'minted', policy: script, redeemer: proof } })
  const mint: DraftWith = (proof) => ({
    ...provideScripts([{ script }], others.referenceScripts ?? []),
    mint: [{ policy, assets: new Map([[name, 1n]]), redeemer: proof }],
  })
  const proofs = rooms.map((room) => outsource(redeemer, room, hasLists))
  for (const [stage, draftWith] of [
    ['removal', remove],
    ['verdict', mint],
  ] as const) {
    for (const [i, proof] of proofs.entries()) {
      if (proof.datums.length === proofs[i - 1]?.datums.length) continue
      const holders = proof.datums.map((data) =>
        held.find(({ output: { datum } }) => datum.kind === 'inline' && equalBytes(datum.data, data)),
      )
      const missing = proof.datums.filter((_, place) => holders[place] === undefined)
      if (missing.length === 0) yield { stage, drafts: [withDatums(draftWith, proof, holders as Utxo[])] }
      else if (address) {
        const later = withDatums(
          draftWith,
          proof,
          proof.datums.map((data, place) => holders[place] ?? standInFor(address, data, place)),
        )
        // A wallet does not spend what its transaction refers to.
        const referenceInputs = holders.filter((holder) => holder !== undefined)
        const outputs = firstOutputs(address, missing)
        yield { stage: 'datum', drafts: [{ outputs, referenceInputs }, later] }
      }
    }
  }
}

/** As many outputs with datums as fit into one transaction. */
function firstOutputs(address: Uint8Array, datums: readonly Uint8Array[]) {
  let size = 0
  const fitting = datums.filter(({ length }, place) => {
    // With the rest of an output.
    size += length + 64
    return size <= datumsRoom || place === 0
  })
  return fitting.map((data) => ({ address, datum: { kind: 'inline', data } }) as const)
}

/** A draft whose proof takes parts from the datums of outputs that it refers to. */
function withDatums(draftWith: DraftWith, proof: Outsourced, holders: readonly Utxo[]): TransactionDraft {
  const { referenceInputs = [] } = draftWith(proof.redeemer(holders.map(() => 0)))
  const all = [...referenceInputs, ...holders]
  const keys = [...new Set(inOrder(all).map(({ reference }) => outputReferenceKey(reference)))]
  const indexes = holders.map(({ reference }) => keys.indexOf(outputReferenceKey(reference)))
  return { ...draftWith(proof.redeemer(indexes)), referenceInputs: all }
}

/** An output as it will be, under a reference that no output has. */
const standInFor = (address: Uint8Array, data: Uint8Array, index: number): Utxo => ({
  reference: { transactionId: new Uint8Array(32).fill(255), index },
  output: toOutput({ address, datum: { kind: 'inline', data }, value: { lovelace: 0n, assets: new Map() } }),
})
