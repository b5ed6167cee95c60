import { remaining } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import {
  type Address,
  blake2b256,
  createNetEffects,
  decodeTransaction,
  decodeTransactionOutput,
  type Effects,
  effects,
  metadataLabels,
  type OutputReference,
  type Redeemer,
  redeemerTargets,
  type Script,
  type Transaction,
  type TransactionOutput,
} from '@ratatosk/ledger'
import type { FollowedTransaction, GenesisEntry } from './types.js'

export interface IndexEntries {
  /** A deposit has no sums. */
  readonly transactions: {
    sequence: bigint
    id: Uint8Array
    valid: boolean
    sums?: { readonly output: bigint; readonly fee: bigint }
  }[]
  /** Outputs that it produces, spent within it or not. */
  readonly outputs: OutputEntry[]
  readonly assets: AssetEntry[]
  /** Outputs that it spends and did not produce. */
  readonly spent: { reference: OutputReference; spentBy: bigint }[]
  readonly mints: {
    policy: Uint8Array
    name: Uint8Array
    sequence: bigint
    quantity: bigint
    described: boolean
  }[]
  /** The labels of each transaction's metadata. */
  readonly labels: { label: bigint; sequence: bigint }[]
  readonly redeemers: RedeemerEntry[]
  readonly withdrawals: { stake: Uint8Array; sequence: bigint }[]
  /** Datums and scripts, each content once, with the first transaction that has it. */
  readonly preimages: {
    hash: Uint8Array
    language: Script['language'] | undefined
    bytes: Uint8Array
    sequence: bigint
  }[]
  readonly uses: { hash: Uint8Array; sequence: bigint }[]
}

interface Position {
  readonly reference: OutputReference
  readonly sequence: bigint
  readonly spentBy: bigint | undefined
}

interface OutputEntry extends Position {
  readonly owner: Uint8Array
  readonly address: Uint8Array
  readonly stake: Uint8Array | undefined
  readonly script: Uint8Array | undefined
  readonly output: Uint8Array
}

interface AssetEntry extends Position {
  readonly policy: Uint8Array
  readonly name: Uint8Array
}

interface RedeemerEntry extends Pick<Redeemer, 'purpose' | 'index' | 'executionUnits'> {
  /** Hash of the script; undefined if the output has it. */
  readonly script: Uint8Array | undefined
  /** The output that it spends. */
  readonly output: OutputReference | undefined
  readonly sequence: bigint
  readonly nth: number
  /** Hash of its data. */
  readonly data: Uint8Array
}

type Produced = { readonly reference: OutputReference; readonly output: TransactionOutput }

/**
 * @param bridge hash of the bridge's script
 * @throws DecodeError or EffectsError if the transactions cannot have been accepted in this order
 */
export function entriesOf(
  transactions: readonly FollowedTransaction[],
  bridge: Uint8Array | undefined,
): IndexEntries {
  const collected = collect()
  const net = createNetEffects<Produced>()
  const sequenceAt: bigint[] = []
  for (const { sequence, id, cbor, deposit = false } of transactions) {
    sequenceAt.push(sequence)
    if (deposit) {
      const output = decodeTransactionOutput(cbor)
      net.add({ spent: [], produced: [{ reference: { transactionId: id, index: 0 }, output }] })
      collected.transactions.push({ sequence, id, valid: true })
      collected.contents(output, sequence)
      collected.mint(output.value.assets, sequence, false)
      continue
    }
    const transaction = decodeTransaction(cbor)
    const all = effects(transaction)
    const change = remaining(all, bridge)
    net.add(change)
    collected.transactions.push({ sequence, id, valid: transaction.isValid, sums: sumsOf(transaction, all) })
    const { witnesses, auxiliaryData } = transaction
    const labels = labelsOf(transaction)
    collected.mint(mintOf(transaction, all, change), sequence, labels.includes(721n))
    for (const [hash, data] of witnesses.datums)
      collected.preimage(hash, fromHex(hash), undefined, data, sequence)
    for (const script of witnesses.scripts) collected.script(script, sequence)
    for (const script of auxiliaryData?.scripts ?? []) collected.script(script, sequence)
    if (witnesses.redeemers.length > 0) collected.redeemed(transaction, sequence)
    for (const label of labels) collected.labels.push({ label, sequence })
    for (const stake of withdrawersOf(transaction)) collected.withdrawals.push({ stake, sequence })
    for (const { output } of change.produced) collected.contents(output, sequence)
  }
  const at = (position: number | undefined) => (position === undefined ? undefined : sequenceAt[position])
  for (const { output, producedBy, spentBy } of net.produced.values()) {
    collected.output(output, at(producedBy) ?? 0n, at(spentBy))
  }
  for (const { reference, spentBy } of net.spent.values()) {
    collected.spent.push({ reference, spentBy: at(spentBy) ?? 0n })
  }
  return collected
}

/** The labels of a transaction's metadata, which one without valid scripts does not have. */
function labelsOf({ isValid, auxiliaryData }: Transaction): bigint[] {
  if (!isValid || auxiliaryData === undefined) return []
  return metadataLabels(auxiliaryData).map(({ label }) => label)
}

/** The stake credentials from which a transaction withdraws, which one without valid scripts does not. */
function withdrawersOf({ isValid, body }: Transaction): Uint8Array[] {
  if (!isValid) return []
  return body.withdrawals.flatMap(({ account }) => (account.kind === 'reward' ? account.stake.hash : []))
}

/** The sums that a transaction pays out and pays as fee; its collateral is the fee if scripts failed. */
function sumsOf({ isValid, body }: Transaction, { produced }: Effects) {
  const output = produced.reduce((sum, { output: { value } }) => sum + value.lovelace, 0n)
  return { output, fee: isValid ? body.fee : (body.totalCollateral ?? 0n) }
}

type Assets = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** A transaction's mint, less the assets that leave layer 2 by it: they count as burnt. */
function mintOf({ isValid, body }: Transaction, all: Effects, kept: Effects): Assets {
  const mint: Assets = isValid ? body.mint : new Map()
  if (kept.produced.length === all.produced.length) return mint
  const net = new Map(Array.from(mint, ([policy, names]) => [policy, new Map(names)]))
  const stays = new Set(kept.produced)
  for (const each of all.produced) {
    if (stays.has(each)) continue
    for (const [policy, names] of each.output.value.assets) {
      const own = net.get(policy) ?? new Map<string, bigint>()
      net.set(policy, own)
      for (const [name, quantity] of names) own.set(name, (own.get(name) ?? 0n) - quantity)
    }
  }
  for (const names of net.values()) {
    for (const [name, quantity] of names) if (quantity === 0n) names.delete(name)
  }
  return net
}

/** Genesis outputs whose entries are made and written at once. */
const genesisStep = 2_000

/** Genesis outputs come first, with negative sequences. There may be millions, so they come in parts. */
export function* entriesOfGenesis(genesis: readonly GenesisEntry[]): Generator<IndexEntries, void> {
  for (let start = 0; start < genesis.length; start += genesisStep) {
    const collected = collect()
    for (const [place, { reference, output: bytes }] of genesis.slice(start, start + genesisStep).entries()) {
      const output = decodeTransactionOutput(bytes)
      const sequence = BigInt(start + place - genesis.length)
      collected.output({ reference, output }, sequence, undefined)
      collected.contents(output, sequence)
      collected.mint(output.value.assets, sequence, false)
    }
    yield collected
  }
}

function collect() {
  const entries: IndexEntries = {
    transactions: [],
    outputs: [],
    assets: [],
    spent: [],
    mints: [],
    labels: [],
    redeemers: [],
    withdrawals: [],
    preimages: [],
    uses: [],
  }
  const known = new Set<string>()
  const used = new Set<string>()

  function preimage(
    key: string,
    hash: Uint8Array,
    language: Script['language'] | undefined,
    bytes: Uint8Array,
    sequence: bigint,
  ): void {
    if (!known.has(key)) entries.preimages.push({ hash, language, bytes, sequence })
    known.add(key)
    const use = `${key}@${sequence}`
    if (!used.has(use)) entries.uses.push({ hash, sequence })
    used.add(use)
  }

  function script({ hash, language, bytes }: Script, sequence: bigint): void {
    preimage(Buffer.from(hash).toString('hex'), hash, language, bytes, sequence)
  }

  return {
    ...entries,
    preimage,
    script,
    output({ reference, output }: Produced, sequence: bigint, spentBy: bigint | undefined): void {
      const { address, value, referenceScript } = output
      entries.outputs.push({
        reference,
        sequence,
        spentBy,
        owner: ownerOf(address),
        address: address.bytes,
        stake: 'stake' in address ? address.stake?.hash : undefined,
        script: referenceScript?.hash,
        output: output.bytes,
      })
      for (const [policy, names] of value.assets) {
        for (const name of names.keys()) {
          entries.assets.push({ reference, sequence, spentBy, policy: fromHex(policy), name: fromHex(name) })
        }
      }
    },
    redeemed(transaction: Transaction, sequence: bigint): void {
      const targetOf = redeemerTargets(transaction)
      for (const [nth, redeemer] of transaction.witnesses.redeemers.entries()) {
        const { purpose, index, executionUnits } = redeemer
        const data = blake2b256(redeemer.data)
        preimage(Buffer.from(data).toString('hex'), data, undefined, redeemer.data, sequence)
        const target = targetOf(redeemer)
        if (target === undefined || !transaction.isValid) continue
        const script = 'script' in target ? fromHex(target.script) : undefined
        const output = 'output' in target ? target.output : undefined
        entries.redeemers.push({ script, output, sequence, nth, purpose, index, executionUnits, data })
      }
    },
    contents({ datum, referenceScript }: TransactionOutput, sequence: bigint): void {
      if (datum.kind === 'inline') {
        const hash = blake2b256(datum.data)
        preimage(Buffer.from(hash).toString('hex'), hash, undefined, datum.data, sequence)
      }
      if (referenceScript !== undefined) script(referenceScript, sequence)
    },
    mint(assets: Assets, sequence: bigint, isDescribed: boolean): void {
      for (const [policy, names] of assets) {
        for (const [name, quantity] of names) {
          const described = isDescribed && quantity > 0n
          entries.mints.push({ policy: fromHex(policy), name: fromHex(name), sequence, quantity, described })
        }
      }
    },
  }
}

/** The key of an address in the index: the payment credential, or a Byron address itself. */
export function ownerOf(address: Address): Uint8Array {
  return 'payment' in address ? address.payment.hash : address.bytes
}
