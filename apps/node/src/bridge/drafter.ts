import { fromHex, isDecodeError } from '@ratatosk/cbor'
import { hasCode } from '@ratatosk/http'
import {
  type Address,
  type Assets,
  decodeUtxo,
  minimumLovelace,
  type OutputDatum,
  type SlotConfig,
  splitUnit,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type BuildContext,
  type BuiltTransaction,
  isWalletError,
  type TransactionDraft,
  toOutput,
  unsigned,
  type WalletError,
} from '@ratatosk/ledger/builder'
import { decodePlutusData, isPlutusDataError } from '@ratatosk/ledger/plutus-data'
import {
  administratorAddress,
  buildDeposit,
  draftDeposit,
  paysBridge,
  referenceScriptsOf,
} from '@ratatosk/protocol'
import type { OwedReader } from '@ratatosk/sequencer/settler'
import type {
  AssetAmounts,
  DepositRequest,
  Draft,
  Drafter,
  DraftOutcome,
  DraftWallet,
} from '@ratatosk/state-queue/bridge'
import type { Store } from '@ratatosk/store'
import type { Settlement } from '../layer1/settlement.js'
import type { ClientScripts } from '../node.js'
import { readAddress } from './addresses.js'
import type { BridgeContracts } from './moment.js'
import { buildWithStandIns, standInFunds, type WalletFunds } from './stand-ins.js'

/** With what transactions of strangers' wallets are drafted. */
export interface DrafterOptions {
  readonly settlement: Pick<Settlement, 'reads' | 'layer1'>
  readonly contracts: BridgeContracts
  readonly scripts: ClientScripts
  /** Knows which withdrawals are left, and proves it. */
  readonly payouts: Pick<OwedReader, 'draft'>
  readonly store: Pick<Store, 'placeOf'>
  /** How long layer 1 has to include a deposit, which is credited a wait after that. */
  readonly validityMs: number
}

/** A request that cannot be drafted, with the reason for its client. */
class RefusedDraft extends Error {}

/** A payout is valid as long as a wallet may need. */
const payoutValidityMs = 600_000
/** Steps of the scripts of a draft, about: what waits for the evaluator is ordered by them. */
const steps = 1_000_000_000n

/** Drafts transactions of the bridge for any wallet to sign. */
export function openDrafter(options: DrafterOptions): Drafter {
  const { contracts, payouts, store } = options
  return {
    deposit: (request, signal) =>
      outcomeOf(async () => {
        const means = await openMeans(options, request, options.validityMs, signal)
        const deposit = depositOf(contracts, request, means)
        refuseTooLittle(contracts, deposit, means)
        const { built, id, time } = await buildDeposit({ build: means.build }, contracts, deposit)
        return { ...draftOf(built), id, creditedFrom: time }
      }),

    payout: (request, signal) =>
      outcomeOf(async () => {
        const means = await openMeans(options, request, payoutValidityMs, signal)
        const { outrefs } = request
        const { changeAddress: payer, referenceScripts } = means
        const headerHash = await blockOf(store, outrefs[0])
        if (headerHash === undefined) return { kind: 'not owed', reason: `No block has ${outrefs[0]}` }
        const drafted = await payouts.draft({ headerHash, outrefs, payer, referenceScripts }, signal)
        if (drafted.kind === 'not owed') return drafted
        return draftOf(await means.build({ validUntil: means.validUntil, ...drafted.draft }))
      }),
  }
}

/** The block with the transaction of a withdrawal, which owes it if any does. */
async function blockOf(
  store: Pick<Store, 'placeOf'>,
  outref: string | undefined,
): Promise<Uint8Array | undefined> {
  const place = outref === undefined ? undefined : await store.placeOf(fromHex(outref.slice(0, 64)))
  return place?.block?.headerHash
}

async function outcomeOf(work: () => Promise<DraftOutcome>): Promise<DraftOutcome> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RefusedDraft) return { kind: 'refused', reason: error.message }
    if (isWalletError(error)) return { kind: 'refused', reason: reasonOf(error) }
    if (hasCode(error, 'WORKERS_EVALUATIONS_BUSY')) return { kind: 'busy' }
    throw error
  }
}

/** The reason is for people who do not know that a builder exists. */
const reasonOf = ({ message }: WalletError): string => {
  const text = message.replace(/^Invalid draft: /, '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const draftOf = (built: BuiltTransaction): Draft => ({
  kind: 'drafted',
  transaction: unsigned(built.transaction),
  transactionId: built.id,
  fee: built.fee,
})

/** The means by which one draft is built. */
interface Means {
  readonly wallet: WalletFunds
  readonly changeAddress: Uint8Array
  readonly referenceScripts: readonly Utxo[]
  readonly parameters: BuildContext['parameters']
  readonly slots: SlotConfig
  readonly validUntil: bigint
  build(draft: TransactionDraft): Promise<BuiltTransaction>
}

async function openMeans(
  { settlement: { reads, layer1 }, contracts, scripts }: DrafterOptions,
  { utxos, changeAddress: change }: DraftWallet,
  validityMs: number,
  signal: AbortSignal | undefined,
): Promise<Means> {
  const { networkId } = contracts
  const changeAddress = paymentAddress('changeAddress', change, contracts)
  const wallet = standInFunds(utxos.map(outputOf), networkId)
  if (wallet.funds.length === 0)
    throw new RefusedDraft('None of the outputs in utxos is locked by a key of this network')
  const options = signal && { signal }
  const [parameters, slots, slot, published] = await Promise.all([
    layer1.parameters(options),
    layer1.slots(options),
    layer1.currentSlot(options),
    reads.utxosAt(administratorAddress(contracts), options),
  ])
  const evaluator: BuildContext['evaluator'] = {
    evaluate: (...request) => scripts.turns.take(steps, signal, () => scripts.evaluator.evaluate(...request)),
  }
  const context = { changeAddress: changeAddress.bytes, parameters, slots, slot, networkId, evaluator }
  return {
    wallet,
    changeAddress: changeAddress.bytes,
    referenceScripts: referenceScriptsOf(contracts, published),
    parameters,
    slots,
    validUntil: slot + BigInt(Math.ceil(validityMs / slots.slotLength)),
    build: (draft) => buildWithStandIns(draft, wallet, context),
  }
}

function outputOf(cbor: Uint8Array): Utxo {
  try {
    return decodeUtxo(cbor)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new RefusedDraft('An entry of utxos is not the CBOR of a pair of reference and output')
  }
}

function paymentAddress(name: string, text: string, { networkId, bridge }: BridgeContracts): Address {
  const address = readAddress(text)
  if (address === undefined || address.kind === 'reward' || address.kind === 'byron')
    throw new RefusedDraft(`${name} is not a payment address`)
  if (address.networkId !== networkId) throw new RefusedDraft(`${name} is an address of another network`)
  if (paysBridge(bridge, address.bytes))
    throw new RefusedDraft(`${name} is the address of the bridge, and not of a wallet`)
  return address
}

type Deposit = Parameters<typeof buildDeposit>[2]

function depositOf(
  contracts: BridgeContracts,
  { to, lovelace, assets, datum }: DepositRequest,
  { validUntil, slots, referenceScripts }: Means,
): Deposit {
  return {
    to: paymentAddress('to', to, contracts).bytes,
    lovelace,
    assets: assetsOf(assets),
    ...(datum && { datum: plutusDatum(datum) }),
    validUntil,
    slots,
    referenceScripts,
  }
}

function plutusDatum(datum: Exclude<OutputDatum, { kind: 'none' }>): OutputDatum {
  if (datum.kind === 'hash') return datum
  try {
    decodePlutusData(datum.data)
    return datum
  } catch (error) {
    if (!isPlutusDataError(error)) throw error
    throw new RefusedDraft(`The inline datum is not the CBOR of Plutus data: ${error.message}`)
  }
}

function assetsOf(amounts: AssetAmounts): Assets {
  const assets = new Map<string, Map<string, bigint>>()
  for (const [unit, quantity] of amounts) {
    const { policy, name } = splitUnit(unit)
    assets.set(policy, (assets.get(policy) ?? new Map<string, bigint>()).set(name, quantity))
  }
  return assets
}

/** Scripts are not run for what the ledger refuses anyway. */
function refuseTooLittle(
  contracts: BridgeContracts,
  deposit: Deposit,
  { wallet: { funds }, parameters }: Means,
): void {
  const [firstInput] = funds
  if (firstInput === undefined) return
  const [output] = draftDeposit(contracts, { ...deposit, firstInput }).outputs ?? []
  if (output === undefined) return
  const { assets = new Map(), datum = { kind: 'none' } } = output
  const { lovelace } = deposit
  const { address } = contracts.bridge.place
  const least = minimumLovelace(toOutput({ address, value: { lovelace, assets }, datum }), parameters)
  if (lovelace < least)
    throw new RefusedDraft(`A deposit like this has at least ${least} lovelace, because layer 1 asks for it`)
}
