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
import { encodeLedgerFraudProof } from './ledger-proofs.js'
import { type Outsourced, outsource, roomBesideRemoval } from './supplied-bytes.js'

/** The inputs of a removal by a fraud proof besides the contracts. */
export interface RemovalByFraud extends Pick<RemovalByVerdict, 'queue' | 'registry' | 'referenceScripts'> {
  readonly block: AccusedBlock
  /**
   * The rules of the layer 2, as the verdict policies have them. Without them, only frauds of the ledger
   * policy are found.
   */
  readonly rules?: ProvableRules
  /** Proofs that are known already, the best first: nothing is searched. */
  readonly proven?: readonly ProvenFraud[]
  /** The prover's unspent outputs that drafts of earlier stages have made. */
  readonly held?: readonly Utxo[]
  /** The prover's address in the bytes of CIP-19. Without it, there is no stage `datum`. */
  readonly address?: Uint8Array
}

/**
 * The effect of a draft: `removal` removes the block and slashes its operator, and mints the verdict unless
 * one is held. Where that does not fit into a transaction, `datum` first pays an output that holds part of
 * the proof, in its datum or as a token, and `verdict` mints the verdict.
 */
export type RemovalStage = 'datum' | 'verdict' | 'removal'

interface Stage {
  readonly stage: RemovalStage
  /** The draft to send, and drafts that must be accepted too for it to be worth sending. */
  readonly drafts: readonly [TransactionDraft, ...TransactionDraft[]]
}

type DraftWith = (redeemer: Uint8Array) => TransactionDraft

/** Bytes of a redeemer that fit into a transaction alone, beside a removal, and with larger registries. */
const rooms = [Number.POSITIVE_INFINITY, 13_500, roomBesideRemoval, 6144, 2048]

/** Bytes of datums that a transaction can pay outputs with. */
const datumsRoom = 15_000

/** The datum of an output that holds part of a proof as a token: an empty string. */
const ofProof = Uint8Array.of(0x40)

/** The drafts that may be sent next to remove a block, the best first. */
export function* stagesOf(
  contracts: Contracts,
  { block, held = [], address, proven: _, ...others }: RemovalByFraud,
  script: PlutusScript,
  { proof, redeemer, parts: needed = [] }: ProvenFraud,
): Generator<Stage, void> {
  const hash = headerHash(block.header)
  const policy = toHex(script.hash)
  const wanted = { ...others, headerHash: hash }
  const holderOf = (name: string) => held.find(({ output }) => output.value.assets.get(policy)?.has(name))
  const verdict = holderOf(toHex(hash))
  if (verdict !== undefined) {
    const draft = removeInvalidBlock(contracts, { ...wanted, verdict: { kind: 'held', utxo: verdict } })
    yield { stage: 'removal', drafts: [draft] }
    return
  }
  const mint = (name: string): DraftWith => {
    const assets = new Map([[name, 1n]])
    return (proof) => ({
      ...provideScripts([{ script }], others.referenceScripts ?? []),
      mint: [{ policy, assets, redeemer: proof }],
    })
  }
  const parts = needed.map((part) => ({ ...part, name: toHex(part.name) }))
  const missing = parts.find(({ name }) => holderOf(name) === undefined)
  if (missing !== undefined) {
    if (address === undefined) return
    const assets = new Map([[policy, new Map([[missing.name, 1n]])]])
    const shown = { address, assets, datum: { kind: 'inline', data: ofProof } } as const
    const draftWith: DraftWith = (proof) => ({ ...mint(missing.name)(proof), outputs: [shown] })
    yield* stagesWith('datum', draftWith, { redeemer: () => missing.redeemer, tokens: [] }, held, address)
    return
  }
  const tokens = parts.map(({ name }) => holderOf(name) as Utxo)
  const whole: Whole = {
    tokens,
    redeemer: (holders) =>
      proof.fraud === 'wrongResolvedHash'
        ? encodeLedgerFraudProof(block.header, { ...proof, holders })
        : redeemer,
  }
  const remove: DraftWith = (proof) =>
    removeInvalidBlock(contracts, { ...wanted, verdict: { kind: 'minted', policy: script, redeemer: proof } })
  yield* stagesWith('removal', remove, whole, held, address)
  yield* stagesWith('verdict', mint(toHex(hash)), whole, held, address)
}

/** A proof as one redeemer. */
interface Whole {
  /** The outputs with the tokens that it refers to. */
  readonly tokens: readonly Utxo[]
  /** @param holders where the tokens are among the reference inputs */
  redeemer(holders: readonly number[]): Uint8Array
}

/** A draft with a proof; where there is no room for this, with as few datums of outputs as fit. */
function* stagesWith(
  stage: RemovalStage,
  draftWith: DraftWith,
  whole: Whole,
  held: readonly Utxo[],
  address: Uint8Array | undefined,
): Generator<Stage, void> {
  const first = whole.redeemer(whole.tokens.map((_, place) => place))
  const holderOf = (data: Uint8Array) =>
    held.find(({ output: { datum } }) => datum.kind === 'inline' && equalBytes(datum.data, data))
  let fewer: number | undefined
  for (const room of rooms) {
    const inDatums = (redeemer: Uint8Array) =>
      outsource(redeemer, room, (part) => holderOf(part) !== undefined)
    const { datums } = inDatums(first)
    if (datums.length === fewer) continue
    fewer = datums.length
    const holders = datums.map(holderOf)
    const missing = datums.filter((_, place) => holders[place] === undefined)
    const draft = (all: readonly Utxo[]) => withReferences(draftWith, whole, inDatums, all)
    if (missing.length === 0) yield { stage, drafts: [draft(holders as Utxo[])] }
    else if (address) {
      const later = draft(datums.map((data, place) => holders[place] ?? standInFor(address, data, place)))
      // A wallet does not spend what its transaction refers to.
      const referenceInputs = [...whole.tokens, ...holders.filter((holder) => holder !== undefined)]
      yield { stage: 'datum', drafts: [{ outputs: firstOutputs(address, missing), referenceInputs }, later] }
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

/** A draft whose proof takes parts from outputs that it refers to: tokens, and datums. */
function withReferences(
  draftWith: DraftWith,
  { tokens, redeemer }: Whole,
  inDatums: (redeemer: Uint8Array) => Outsourced,
  holders: readonly Utxo[],
): TransactionDraft {
  const { referenceInputs = [] } = draftWith(new Uint8Array())
  // One output may hold several parts.
  const all = [
    ...new Map(
      [...referenceInputs, ...tokens, ...holders].map((utxo) => [outputReferenceKey(utxo.reference), utxo]),
    ).values(),
  ]
  const keys = inOrder(all).map(({ reference }) => outputReferenceKey(reference))
  const indexes = (of: readonly Utxo[]) =>
    of.map(({ reference }) => keys.indexOf(outputReferenceKey(reference)))
  const proof = inDatums(redeemer(indexes(tokens))).redeemer(indexes(holders))
  return { ...draftWith(proof), referenceInputs: all }
}

/** An output as it will be, under a reference that no output has. */
const standInFor = (address: Uint8Array, data: Uint8Array, index: number): Utxo => ({
  reference: { transactionId: new Uint8Array(32).fill(255), index },
  output: toOutput({ address, datum: { kind: 'inline', data }, value: { lovelace: 0n, assets: new Map() } }),
})
