import { BytesSet, equalBytes, fromHex, isDecodeError } from '@ratatosk/cbor'
import { hasCode } from '@ratatosk/http'
import { isLayer1Error, missingInputs } from '@ratatosk/layer1'
import {
  type Address,
  type Assets,
  decodeTransaction,
  decodeUtxo,
  keyAddress,
  minimumLovelace,
  type OutputDatum,
  outputReferenceKey,
  type SlotConfig,
  splitUnit,
  type Transaction,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type BuildContext,
  type BuiltTransaction,
  buildTransaction,
  isWalletError,
  keysFromSigningKey,
  type SigningKey,
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
  BridgeSubmitter,
  DepositRequest,
  Draft,
  Drafter,
  DraftOutcome,
  DraftWallet,
} from '@ratatosk/state-queue/bridge'
import type { Store } from '@ratatosk/store'
import type { Settlement } from '../layer1/settlement.js'
import type { ClientScripts } from '../node.js'
import { type BridgeContracts, type BridgeMoment, readAddress } from './moment.js'

/** Transactions that are sent at a time. */
const maxAtOnce = 8

/** Sends transactions of the bridge to layer 1, and no others: this node is no gateway to layer 1. */
export function openSubmitter(
  { layer1 }: Pick<Settlement, 'layer1'>,
  { bridge }: BridgeContracts,
  moment: () => Promise<BridgeMoment>,
): BridgeSubmitter {
  let running = 0

  const paysTo = ({ body }: Transaction): boolean =>
    body.outputs.some(({ address }) => equalBytes(address.bytes, bridge.place.address))

  async function spendsFrom({ body }: Transaction): Promise<boolean> {
    const { deposits, reserves, settlements, strays } = await moment()
    const held = [...deposits, ...settlements].map(({ utxo }) => utxo)
    const keys = new Set(
      [...held, ...reserves, ...strays].map(({ reference }) => outputReferenceKey(reference)),
    )
    return body.inputs.some((reference) => keys.has(outputReferenceKey(reference)))
  }

  const submit: BridgeSubmitter['submit'] = async (cbor, signal) => {
    let transaction: Transaction
    try {
      transaction = decodeTransaction(cbor)
    } catch (error) {
      if (!isDecodeError(error)) throw error
      return { kind: 'refused', reason: `The CBOR is no transaction of layer 1: ${error.message}` }
    }
    if (!(paysTo(transaction) || (await spendsFrom(transaction)))) return { kind: 'foreign' }
    const options = signal && { signal }
    try {
      return { kind: 'sent', transactionId: await layer1.submit(cbor, options) }
    } catch (error) {
      if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
      const missing = await missingInputs(layer1, () => false, transaction, options)
      if (missing.length > 0) return { kind: 'spent' }
      return { kind: 'refused', reason: `Layer 1 refuses the transaction: ${error.reason ?? error.message}` }
    }
  }

  return {
    async submit(cbor, signal) {
      if (running >= maxAtOnce) return { kind: 'busy' }
      running += 1
      try {
        return await submit(cbor, signal)
      } finally {
        running -= 1
      }
    },
  }
}

/*
 * Drafts for wallets whose keys are elsewhere. The builder signs what it builds and judges it by all rules of
 * the ledger, so keys that are public stand in for those of the wallet. Only the witnesses show it:
 * inputs are references, and each output keeps its staking part. The stand-ins' signatures are taken out
 * again; the fee has paid for their room.
 */

/** Public: nothing is ever paid to them. */
const standIn = (number: number): SigningKey =>
  keysFromSigningKey(number.toString(16).padStart(64, '0'), { networkId: 0 }).payment

const first = standIn(1)

/** Outputs of a wallet that keys lock, as the builder may spend them. */
interface WalletFunds {
  /** Locked by the stand-in. */
  readonly funds: readonly Utxo[]
  /** How many keys have to sign for some of them. */
  keysOf(utxos: readonly Utxo[]): number
}

/** Takes the outputs that a key locks and that hold no script; others are left out. */
function standInFunds(utxos: readonly Utxo[], networkId: 0 | 1): WalletFunds {
  const owners = new Map<Utxo, Uint8Array>()
  for (const { reference, output } of utxos) {
    const { address, value, datum, referenceScript } = output
    if (address.kind !== 'base' && address.kind !== 'enterprise') continue
    if (address.payment.kind !== 'key' || address.networkId !== networkId || referenceScript) continue
    const place = keyAddress(first.hash, networkId, address.stake)
    const utxo = { reference, output: toOutput({ address: place.bytes, value, datum }) }
    owners.set(utxo, address.payment.hash)
  }
  return {
    funds: [...owners.keys()],
    keysOf: (spent) => new BytesSet(spent.flatMap((utxo) => owners.get(utxo) ?? [])).size,
  }
}

const maxRounds = 4

/** Builds a transaction of a wallet with stand-ins for its signatures. @throws {WalletError} (rejects) */
async function buildWithStandIns(
  draft: TransactionDraft,
  { funds, keysOf }: WalletFunds,
  context: Omit<BuildContext, 'funds' | 'signers'>,
): Promise<BuiltTransaction> {
  let keys = 1
  for (let round = 1; ; round++) {
    const signers = Array.from({ length: keys }, (_, number) => (number === 0 ? first : standIn(number + 1)))
    const built = await buildTransaction(draft, { ...context, funds, signers })
    const needed = keysOf([...built.spent, ...built.collateral])
    // The fee has to pay for the signatures of all.
    if (needed <= keys || round === maxRounds) return built
    keys = needed
  }
}

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
