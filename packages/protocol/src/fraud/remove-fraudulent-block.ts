import { headerHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { fraudScript, type PlutusScript, type ProvableRules } from '@ratatosk/contracts'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import {
  type BuildContext,
  buildTransaction,
  invalidDraft,
  isWalletError,
  keysFromSigningKey,
  type TransactionDraft,
  toOutput,
} from '@ratatosk/ledger/builder'
import { type Contracts, inOrder, provideScripts } from '../contracts.js'
import { type RemovalByVerdict, removeInvalidBlock } from '../removal-drafts.js'
import { type AccusedBlock, pausing } from './accused-block.js'
import { FraudError } from './errors.js'
import { fraudsIn, type ProvenFraud } from './find-fraud.js'
import { encodeLedgerFraudProof } from './ledger-proofs.js'
import { type Outsourced, outsource, roomBesideRemoval } from './openings.js'

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

/** Frauds of a kind that are tried, but for proofs that are too large. */
const mostTried = 32
/**
 * The additions of a wallet to a transaction with stand-in funds: base addresses for change and collateral's
 * return, a validity interval, up to four more inputs; and a percent of the units of scripts, which read
 * them.
 */
const walletBytes = 256
const unitsPercent = 99n

/** With what a removal is evaluated before it is returned. */
export type RemovalContext = Pick<BuildContext, 'parameters' | 'slots' | 'slot'> &
  Required<Pick<BuildContext, 'evaluator'>>

/** The removal of a block for a fraud that its proof shows. */
export interface FraudRemoval {
  readonly policy: ProvenFraud['policy']
  readonly fraud: ProvenFraud['proof']['fraud']
  readonly stage: RemovalStage
  readonly draft: TransactionDraft
}

/**
 * Searches a block for a fraud. If there is one, drafts the transaction that mints the verdict with the
 * smallest proof, removes the block and slashes its operator. The wallet that sends it receives the
 * block's ada and the bond, less the penalty. All scripts and all rules of layer 1 have accepted the draft
 * with stand-in funds, so a proof that proves nothing is never sent.
 *
 * If this is too much for one transaction, the draft is of an earlier stage: send it, and call this again
 * with the outputs that it makes in `held`. A verdict that is held can be used by others first, who then
 * take the bond, so that a datum is preferred to it. If no stage fits into a transaction, or a proof is
 * refused, the next frauds of the block are tried.
 *
 * `findFraud` documents what is not found. Other work runs during the search.
 *
 * @returns undefined if no fraud is found
 * @throws {FraudError} (rejects) `FRAUD_PROOF_REFUSED`, the first, if none of the frauds is accepted
 * @throws {ProtocolError} (rejects) `PROTOCOL_BROKEN_QUEUE`
 * @throws {WalletError} (rejects) `WALLET_INVALID_DRAFT` if the block is not in the list, or if the script
 *   that proves each fraud is not a verdict policy of the contracts
 * @throws {ScriptsNotRunError} (rejects) where scripts could not be run
 */
export async function removeFraudulentBlock(
  contracts: Contracts,
  wanted: RemovalByFraud,
  given: RemovalContext,
): Promise<FraudRemoval | undefined> {
  let refused: FraudError | undefined
  const context = { ...given, parameters: withRoomForWallet(given.parameters) }
  const { maxTransactionSize } = context.parameters
  const scriptOf = listedScripts(contracts, wanted.rules)
  const hasDatums = wanted.address !== undefined || (wanted.held ?? []).length > 0
  const tries = createTries(mostTried, maxTransactionSize, hasDatums)
  let isUnlisted = false
  const { block, rules, proven } = wanted
  for await (const frauds of pausing(proven ? [proven] : fraudsIn(block, rules))) {
    for (const fraud of frauds) {
      const script = scriptOf(fraud.policy)
      isUnlisted ||= script === undefined
      if (script === undefined || !tries.isWorth(fraud)) continue
      const removal = await removalBy(contracts, wanted, context, fraud, script)
      if (removal && 'draft' in removal) return removal
      tries.refused(fraud, removal?.excess)
      refused ??= removal?.error
    }
  }
  if (refused !== undefined) throw refused
  if (isUnlisted) throw invalidDraft('what proves the fraud is not one of the verdict policies')
  return undefined
}

/** The script of a policy, made once; undefined if it is none of the contracts' verdict policies. */
export function listedScripts(
  { parameters: { verdictPolicies = [] } }: Pick<Contracts, 'parameters'>,
  rules: RemovalByFraud['rules'],
) {
  const known = new Map<ProvenFraud['policy'], PlutusScript | undefined>()
  return (policy: ProvenFraud['policy']): PlutusScript | undefined => {
    if (!known.has(policy)) {
      const script = fraudScript(policy, rules)
      known.set(
        policy,
        verdictPolicies.some(({ hash }) => equalBytes(hash, script.hash)) ? script : undefined,
      )
    }
    return known.get(policy)
  }
}

function withRoomForWallet(parameters: RemovalContext['parameters']): RemovalContext['parameters'] {
  const { memory, steps } = parameters.maxTransactionExecutionUnits
  return {
    ...parameters,
    maxTransactionSize: parameters.maxTransactionSize - walletBytes,
    maxTransactionExecutionUnits: {
      memory: (memory * unitsPercent) / 100n,
      steps: (steps * unitsPercent) / 100n,
    },
  }
}

/** Why no stage of a removal is accepted. */
interface Refusal {
  /** The first. */
  readonly error: FraudError
  /** Undefined if the proof is not only too large. */
  readonly excess: Excess | undefined
}

/** The first stage of a removal by a fraud that is accepted; why there is none otherwise. */
async function removalBy(
  contracts: Contracts,
  wanted: RemovalByFraud,
  context: RemovalContext,
  fraud: ProvenFraud,
  script: PlutusScript,
): Promise<FraudRemoval | Refusal | undefined> {
  let refused: Refusal | undefined
  for (const { stage, drafts } of stagesOf(contracts, wanted, script, fraud)) {
    try {
      for (const draft of drafts) await requireAccepted(contracts, draft, context)
      return { policy: fraud.policy, fraud: fraud.proof.fraud, stage, draft: drafts[0] }
    } catch (error) {
      if (!(error instanceof FraudError)) throw error
      const excess = excessOf(error)
      if (excess === undefined) return { error, excess }
      refused = { error: refused?.error ?? error, excess: refused?.excess === 'units' ? 'units' : excess }
    }
  }
  return refused
}

/** Rules of layer 1 that a proof breaks together with the removal, and perhaps not alone. */
const limits = [
  ['MaxTxSizeUTxO', 'bytes'],
  ['ExUnitsTooBigUTxO', 'units'],
] as const

function excessOf({ cause }: FraudError): Excess | undefined {
  const failures = (isWalletError(cause) && cause.failures) || []
  return limits.find(([limit]) => failures.some(({ predicate }) => predicate === limit))?.[1]
}

/** More than any removal costs; a removal brings ada, so this is mostly collateral. */
const standInLovelace = 1_000_000_000n

/** Evaluates a draft funded by an absent output of a public key. Rejects with `FRAUD_PROOF_REFUSED`. */
export async function requireAccepted(
  { networkId }: Contracts,
  draft: TransactionDraft,
  context: RemovalContext,
): Promise<void> {
  const { payment, address } = keysFromSigningKey('00'.repeat(32), { networkId })
  const value = { lovelace: standInLovelace, assets: new Map() }
  const output = toOutput({ address: address.bytes, value, datum: { kind: 'none' } })
  const reference = { transactionId: new Uint8Array(32), index: 0 }
  try {
    await buildTransaction(draft, {
      ...context,
      networkId,
      funds: [{ reference, output }],
      changeAddress: address.bytes,
      signers: [payment],
    })
  } catch (error) {
    if (!isWalletError(error) || error.code !== 'WALLET_TRANSACTION_REFUSED') throw error
    const message = `The removal by a fraud proof is refused: ${error.message}`
    throw new FraudError('FRAUD_PROOF_REFUSED', message, { cause: error })
  }
}

/** Why a proof was too much for layer 1: the bytes of a transaction, or what its scripts cost. */
type Excess = 'bytes' | 'units'

/** Which proofs of a search are tried. */
interface Tries {
  isWorth(fraud: ProvenFraud): boolean
  /** Notes that a proof was refused; `excess` if only for being too large. */
  refused(fraud: ProvenFraud, excess: Excess | undefined): void
}

interface Tried {
  /** Proofs that used up a try. */
  count: number
  /** Proofs of at least these bytes fit into no transaction, even with datums. */
  tooLong: number
  /** Bytes of the smallest proof whose scripts cost too much. */
  tooCostly: number
}

/**
 * Bounds the tries of each kind of fraud, so that no number of large proofs hides a smaller one: a proof over
 * `maxSize` bytes uses up none. After one, those no smaller are skipped or, if scripts cost too much, use up
 * tries. `hasDatums`: datums may hold parts of a proof.
 */
export function createTries(most: number, maxSize: number, hasDatums: boolean): Tries {
  const leastOf = (fraud: ProvenFraud) => (hasDatums ? leastSize(fraud) : fraud.redeemer.length)
  const kinds = new Map<string, Tried>()
  const triedOf = ({ policy, proof }: ProvenFraud): Tried => {
    const kind = `${policy}:${proof.fraud}`
    const known = kinds.get(kind)
    if (known !== undefined) return known
    const tried = { count: 0, tooLong: Number.POSITIVE_INFINITY, tooCostly: Number.POSITIVE_INFINITY }
    kinds.set(kind, tried)
    return tried
  }
  return {
    isWorth(fraud) {
      const { count, tooLong } = triedOf(fraud)
      return count < most && (tooLong === Number.POSITIVE_INFINITY || leastOf(fraud) < tooLong)
    },
    refused(fraud, excess) {
      const tried = triedOf(fraud)
      const { length } = fraud.redeemer
      if (excess === 'bytes') tried.tooLong = Math.min(tried.tooLong, maxSize, leastOf(fraud))
      else if (excess === undefined || length >= tried.tooCostly) tried.count++
      else tried.tooCostly = length
    },
  }
}

/** Bytes that one transaction must hold of a proof: its largest datum, or what has to be in a redeemer. */
function leastSize({ redeemer, parts = [] }: ProvenFraud): number {
  return Math.max(
    ...[redeemer, ...parts.map((part) => part.redeemer)].flatMap((each) => {
      const { datums, redeemer: without } = outsource(each, 0)
      return [without(datums.map(() => 0)).length, ...datums.map(({ length }) => length)]
    }),
  )
}

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
function* stagesOf(
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
