import { toHex } from '@ratatosk/cbor'
import {
  depositId,
  depositLimits,
  depositOutput,
  encodeBridgeDatum,
  encodeEventAction,
} from '@ratatosk/contracts'
import {
  type Assets,
  blake2b256,
  type OutputDatum,
  type SlotConfig,
  slotToTime,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type BuiltTransaction,
  invalidDraft,
  isWalletError,
  type TransactionDraft,
} from '@ratatosk/ledger/builder'
import { areBridged, bridgeOf, isPaymentAddress, paysBridge } from './bridge.js'
import { type Contracts, inOrder, provideScripts } from './contracts.js'

/** A deposit to be made. */
export interface DepositRequest {
  /** The address on layer 2, of CIP-19: a Shelley address without a pointer. */
  readonly to: Uint8Array
  /** Of the output on both layers, so at least the minimum of layer 1. */
  readonly lovelace: bigint
  /** Of bridged policies; assets and policies are at most 100 together. */
  readonly assets?: Assets
  /** Of the output on layer 2. */
  readonly datum?: OutputDatum
  readonly validFrom?: bigint
  /** First slot in which it can no longer be included; it is credited a wait after that. */
  readonly validUntil: bigint
  readonly slots: SlotConfig
  readonly referenceScripts?: readonly Utxo[]
}

/** A deposit of which the first input is known. */
export interface DepositDraft extends DepositRequest {
  /** The first of the transaction's inputs, as the ledger sorts them. */
  readonly firstInput: Utxo
  /** Further inputs. */
  readonly inputs?: readonly Utxo[]
}

/**
 * A deposit. Its id depends on the first input of the transaction: use {@link buildDeposit} unless you choose
 * all inputs.
 *
 * @throws {WalletError} `WALLET_INVALID_DRAFT` where the policy of deposits would refuse it
 */
export function draftDeposit(contracts: Contracts, deposit: DepositDraft): TransactionDraft {
  const { place, events } = bridgeOf(contracts)
  const { firstInput, inputs = [], lovelace, validFrom, validUntil, referenceScripts = [] } = deposit
  const { to: address, assets = new Map(), datum = { kind: 'none' } } = deposit
  refuseMalformed(contracts, deposit)
  const { id, time } = depositOf(contracts, deposit)
  const output = depositOutput({ address, lovelace, assets, datum })
  const outputHash = blake2b256(output)
  const data = encodeBridgeDatum({ kind: 'deposit', id, time, address, datum, outputHash })
  const token = new Map([[toHex(id), 1n]])
  return {
    ...provideScripts([events], referenceScripts),
    inputs: [firstInput, ...inputs].map((utxo) => ({ utxo })),
    mint: [{ policy: events.policy, assets: token, redeemer: encodeEventAction() }],
    outputs: [
      {
        address: place.address,
        lovelace,
        assets: new Map([...assets, [events.policy, token]]),
        datum: { kind: 'inline', data },
      },
    ],
    ...(validFrom !== undefined && { validFrom }),
    validUntil,
  }
}

/** Builds transactions; a `Wallet` of `@ratatosk/layer1` does. */
export interface DepositBuilder {
  build(draft: TransactionDraft): Promise<BuiltTransaction>
  /** Frees the inputs of a transaction that is not sent. */
  release?(id: Uint8Array): void
}

/** A deposit that is built. */
export interface BuiltDeposit {
  readonly built: BuiltTransaction
  /** 32 bytes. */
  readonly id: Uint8Array
  /** POSIX milliseconds: the block whose interval has this time credits it. */
  readonly time: bigint
}

const maxRounds = 5
/** Lovelace that the deposit costs more than the payment; the second is just enough. */
const roomForFee = [2_000_000n, 250_000n]

/**
 * Builds a deposit. A payment of the same amount chooses the inputs; the deposit spends these, so that its
 * first input, and so its id, is known.
 *
 * @throws {WalletError} (rejects) with any of its codes
 */
export async function buildDeposit(
  builder: DepositBuilder,
  contracts: Contracts,
  request: DepositRequest,
): Promise<BuiltDeposit> {
  for (let round = 1; ; round++) {
    const inputs = await chooseInputs(builder, contracts, request)
    const [firstInput, ...others] = inputs
    if (firstInput === undefined) throw invalidDraft('a deposit needs an input')
    const deposit = { ...request, firstInput, inputs: others }
    try {
      const built = await builder.build(draftDeposit(contracts, deposit))
      return { built, ...depositOf(contracts, deposit) }
    } catch (error) {
      if (round === maxRounds || !isOvertaken(error)) throw error
    }
  }
}

/** Whether another transaction took an input meanwhile, or funds were added in front of the first. */
const isOvertaken = (error: unknown): boolean =>
  isWalletError(error) &&
  (error.code === 'WALLET_INVALID_DRAFT' || error.failures?.[0]?.predicate === 'ScriptFailure')

async function chooseInputs(
  builder: DepositBuilder,
  contracts: Contracts,
  request: DepositRequest,
): Promise<readonly Utxo[]> {
  const { place } = bridgeOf(contracts)
  refuseMalformed(contracts, request)
  const { lovelace, assets = new Map(), validUntil } = request
  for (const [attempt, room] of roomForFee.entries()) {
    const output = { address: place.address, lovelace: lovelace + room, assets }
    try {
      const { id, spent } = await builder.build({ outputs: [output], validUntil })
      builder.release?.(id)
      return inOrder(spent)
    } catch (error) {
      const isShort = isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS'
      if (!isShort || attempt === roomForFee.length - 1) throw error
    }
  }
  return []
}

function depositOf(
  contracts: Contracts,
  { firstInput, validUntil, slots }: Pick<DepositDraft, 'firstInput' | 'validUntil' | 'slots'>,
): { readonly id: Uint8Array; readonly time: bigint } {
  const { terms } = bridgeOf(contracts)
  return { id: depositId(firstInput.reference), time: slotToTime(slots, validUntil) + terms.eventWait }
}

function refuseMalformed(
  contracts: Contracts,
  { to, assets = new Map(), datum }: Pick<DepositRequest, 'to' | 'assets' | 'datum'>,
): void {
  const bridge = bridgeOf(contracts)
  if (!isPaymentAddress(to, contracts.networkId))
    throw invalidDraft('a deposit goes to a Shelley address of this network, without a pointer')
  if (paysBridge(bridge, to)) throw invalidDraft("a deposit cannot go to the bridge's own address")
  if (!areBridged(bridge, assets)) throw invalidDraft('a deposit holds assets that are not bridged')
  const count = [...assets.values()].reduce((sum, names) => sum + 1 + names.size, 0)
  if (count > depositLimits.assets)
    throw invalidDraft(`a deposit holds ${count} policies and assets, over ${depositLimits.assets}`)
  if (datum?.kind === 'inline' && datum.data.length > depositLimits.datumBytes)
    throw invalidDraft(
      `the datum of a deposit has ${datum.data.length} bytes, over ${depositLimits.datumBytes}`,
    )
}
