import { equalBytes, toHex } from '@ratatosk/cbor'
import type { Bridge, BridgeDraft } from '@ratatosk/client'
import { type DepositDatum, decodeBridgeDatum, depositId, depositOutput } from '@ratatosk/contracts'
import {
  type Assets,
  blake2b256,
  byReference,
  decodeTransaction,
  encodeBech32Address,
  outputReferenceKey,
  type Transaction,
  type TransactionOutput,
  type Utxo,
} from '@ratatosk/ledger'
import { CommandError } from '../frame/errors.js'

/** The deposit that a user wants, and the wallet that pays. */
export interface AskedDeposit {
  /** Bytes of CIP-19. */
  readonly to: Uint8Array
  readonly lovelace: bigint
  readonly assets: Assets
  readonly funds: readonly Utxo[]
  /** Bytes of CIP-19. */
  readonly changeAddress: Uint8Array
}

/** A draft that does what was asked. */
export interface CheckedDeposit {
  readonly transaction: Transaction
  /** 64 hex digits. */
  readonly id: string
  /** POSIX milliseconds: the block of this time credits it. */
  readonly time: bigint
}

/** Lovelace that a deposit costs at most; with 96 assets it is less than half an ada. */
const maxFee = 1_000_000n
/** Lovelace that scripts that fail would cost. */
const maxCollateral = 5_000_000n
/** Milliseconds within which a deposit must be credited, besides the wait of the bridge. */
const maxDelay = 3_600_000n

/**
 * Compares the draft of a node with what was asked, before anything is signed: who trusts the node less than
 * this could lose what the wallet holds.
 *
 * @throws CommandError that says what differs
 */
export function checkDeposit(draft: BridgeDraft, asked: AskedDeposit, bridge: Bridge): CheckedDeposit {
  const transaction = transactionOf(draft)
  const { body } = transaction
  const [deposit, ...others] = body.outputs
  if (deposit === undefined) throw differs('it has no output')
  checkEffects(transaction, asked)
  for (const output of others) checkChange(output, asked, 'an output')
  if (body.collateralReturn) checkChange(body.collateralReturn, asked, 'the return of the collateral')
  const { id, time } = checkOutput(deposit, transaction, asked, bridge)
  if (draft.id !== id) throw differs('it has another id than the node says')
  if (draft.creditedFrom !== new Date(Number(time)).toISOString())
    throw differs('it is credited at another time than the node says')
  return { transaction, id, time }
}

function transactionOf({ transaction, txHash }: BridgeDraft): Transaction {
  let decoded: Transaction
  try {
    decoded = decodeTransaction(Buffer.from(transaction, 'hex'))
  } catch {
    throw differs('it is no transaction')
  }
  if (toHex(decoded.id) !== txHash) throw differs('it has another hash than the node says')
  return decoded
}

/** It only pays, and costs the fee at most. */
function checkEffects({ body, witnesses }: Transaction, { funds }: AskedDeposit): void {
  const known = new Set(funds.map(({ reference }) => outputReferenceKey(reference)))
  for (const reference of [...body.inputs, ...body.collateralInputs])
    if (!known.has(outputReferenceKey(reference))) throw differs('it spends an output that was not offered')
  if (body.fee > maxFee) throw differs(`its fee is ${body.fee} lovelace`)
  if ((body.totalCollateral ?? maxCollateral + 1n) > maxCollateral)
    throw differs('its collateral is too large')
  const effects = [body.certificates, body.withdrawals, body.votingProcedures, body.proposalProcedures]
  if (effects.some(({ length }) => length > 0) || body.treasuryDonation > 0n)
    throw differs('it does more than to pay')
  if (witnesses.keyWitnesses.length > 0) throw differs('it is signed')
}

function checkChange(
  { address, datum, referenceScript }: TransactionOutput,
  { changeAddress }: AskedDeposit,
  what: string,
): void {
  const isPlain = datum.kind === 'none' && referenceScript === undefined
  if (!(equalBytes(address.bytes, changeAddress) && isPlain)) throw differs(`${what} goes elsewhere`)
}

function checkOutput(
  { address, value, datum, referenceScript }: TransactionOutput,
  { body }: Transaction,
  { to, lovelace, assets }: AskedDeposit,
  { address: place, policies, eventWaitMs }: Bridge,
): { readonly id: string; readonly time: bigint } {
  if (address.kind === 'byron' || encodeBech32Address(address) !== place)
    throw differs('its first output is not at the bridge')
  if (referenceScript !== undefined) throw differs('its first output has a script')
  const stated = datumOf(datum)
  const [first] = [...body.inputs].sort(byReference)
  const id = toHex(stated.id)
  if (first === undefined || !equalBytes(stated.id, depositId(first))) throw differs('its id is wrong')
  if (!equalBytes(stated.address, to)) throw differs('it is for another address on layer 2')
  if (stated.datum.kind !== 'none') throw differs('it has a datum')
  if (value.lovelace !== lovelace) throw differs(`it deposits ${value.lovelace} lovelace`)
  const token = new Map([[policies.events, new Map([[id, 1n]])]])
  if (!areEqual(body.mint, token)) throw differs('it mints something else than the token of the deposit')
  if (!areEqual(value.assets, new Map([...assets, ...token]))) throw differs('it deposits other tokens')
  const output = depositOutput({ address: to, lovelace, assets, datum: stated.datum })
  if (!equalBytes(stated.outputHash, blake2b256(output)))
    throw differs('it becomes another output on layer 2')
  const latest = BigInt(Date.now()) + BigInt(eventWaitMs) + maxDelay
  if (stated.time > latest) throw differs('it is credited too late')
  return { id, time: stated.time }
}

function datumOf(datum: TransactionOutput['datum']): DepositDatum {
  if (datum.kind !== 'inline') throw differs('its first output is no deposit')
  try {
    const read = decodeBridgeDatum(datum.data)
    if (read.kind === 'deposit') return read
  } catch {
    // Said below.
  }
  throw differs('its first output is no deposit')
}

function areEqual(one: Assets, other: Assets): boolean {
  const flat = (assets: Assets): string =>
    Array.from(assets, ([policy, names]) =>
      Array.from(names, ([name, amount]) => `${policy}${name}=${amount}`),
    )
      .flat()
      .sort()
      .join()
  return flat(one) === flat(other)
}

const differs = (what: string): CommandError =>
  new CommandError('CLI_DRAFT', `The draft of the node is not what was asked: ${what}. Nothing was signed.`)
