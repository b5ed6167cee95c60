import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type AddressTransaction,
  type AssetMint,
  addressText,
  type BlockRange,
  type BlockTotals,
  type ChainBlock,
  type ChainOutputQuery,
  type ChainRedeemer,
  type ChainTip,
  type ChainView,
  comparePlaces,
  holdsFor,
  isInSlots,
  isStakeCertificate,
  isWithin,
  type MintedAsset,
  type Place,
  partOf,
  paymentCredential,
  registers,
  type StakeRegistration,
  stakeCredentialOf,
  units,
} from '@ratatosk/chain-apis'
import {
  blake2b256,
  type Credential,
  decodeAddress,
  effects,
  outputReferenceKey,
  redeemerTargets,
  splitUnit,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { credentialKey } from '../chain/accounts.js'
import type { ChainOutput, DevnetBlock } from '../chain/types.js'
import type { Devnet } from '../types.js'

/** Outputs that are converted for a response at a time. */
const pageLength = 128

/**
 * A devnet as the APIs of `@ratatosk/chain-apis` see it: for `apis` with other options than `devnetApis`
 * gives it. Its owner closes the devnet, after the server.
 *
 * @example
 * ```ts
 * await server.register(apis, { chain: chainViewOf(devnet), maxOutputs: 100 })
 * ```
 */
export function chainViewOf(devnet: Devnet): ChainView {
  const { parameters, slots, networkMagic, networkId, genesisHash, maxBlockSize, securityParameter } = devnet
  return {
    parameters,
    slots,
    networkMagic,
    networkId,
    genesisHash,
    maxBlockSize,
    securityParameter,
    currentSlot: () => devnet.currentSlot(),
    tip: () => devnet.tip(),
    block(at) {
      const block = devnet.block(at)
      return block && chainBlock(block)
    },
    blockAfter(height) {
      const block = blockAfter(devnet, height)
      return block && chainBlock(block)
    },
    blockUntil: (slot) => blockUntil(devnet, slot),
    indexedSlot: () => devnet.tip().slot,
    version: () => devnet.tip().hash,
    blockTransactions: (hash, part) => partOf(devnet.block(hash)?.transactions ?? [], part),
    transaction: (hash) => devnet.transaction(hash),
    transactions: (hashes) => found(hashes, (hash) => devnet.transaction(hash)?.transaction.transaction),
    mempool: (part) =>
      partOf(devnet.mempool(), part).map(({ hash, transaction }) => ({
        hash,
        bytes: transaction.bytes.length,
      })),
    outputs: (query, part) => partOf(find(devnet, query), part),
    async *outputPages(query, order) {
      const found = partOf(find(devnet, query), { offset: 0, limit: Number.POSITIVE_INFINITY, order })
      for (let start = 0; start < found.length; start += pageLength) {
        yield found.slice(start, start + pageLength)
      }
    },
    history: (query, part, range) => partOf(historyOf(devnet, query, range), part),
    totals: (first, last) => totalsOf(devnet, first, last),
    labelled: (label, part) => partOf(devnet.labelled(label), part),
    labels: (part) =>
      partOf(
        devnet.labels().toSorted((a, b) => (a < b ? -1 : 1)),
        part,
      ).map((label) => ({ label, count: devnet.labelled(label).length })),
    assets: (policy, part) => partOf(assetsOf(devnet, policy), part),
    asset: (unit) => assetOf(devnet, unit),
    mints: (unit, part) => partOf(mintsOf(devnet, unit), part),
    knowsAddress: (address) => devnet.knowsAddress(textOf(address)),
    pendingOutputs: () => devnet.pendingUtxos,
    datums: (hashes) => found(hashes, (hash) => devnet.datum(hash)),
    script: (hash) => devnet.script(hash),
    scripts: (part) => partOf(devnet.scripts(), part),
    redeemers: (script, part) => partOf([...redeemersOf(devnet, script)], part),
    stakeDeposit: (credential) => devnet.stakeDeposit(credential),
    registrations: (credential, part) => partOf([...registrationsOf(devnet, credential)], part),
    withdrawals: (credential, part) => partOf([...withdrawalsOf(devnet, credential)], part),
    submit: (cbor) => devnet.submit(cbor),
    evaluate: (cbor, additional, _signal, prefersAdditional) =>
      devnet.evaluate(cbor, additional, prefersAdditional),
    subscribe: (listener) => devnet.subscribe(listener),
  }
}

function found<Value>(
  keys: readonly string[],
  read: (key: string) => Value | undefined,
): ReadonlyMap<string, Value> {
  return new Map(
    keys.flatMap((key): [string, Value][] => {
      const value = read(key)
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

/** The lowest block above a height. Old empty blocks are pruned, so heights can be missing. */
function blockAfter(devnet: Devnet, height: number): DevnetBlock | undefined {
  for (let next = height + 1; next <= devnet.tip().height; next++) {
    const block = devnet.block(next)
    if (block !== undefined) return block
  }
  return undefined
}

/** The newest block with at most this slot, or genesis: the slots of blocks rise. */
function blockUntil(devnet: Devnet, slot: bigint): ChainTip {
  let found: ChainTip = { height: 0, slot: 0n, hash: devnet.genesisHash }
  let highest = devnet.tip().height
  while (found.height < highest) {
    const middle = Math.ceil((found.height + highest) / 2)
    const block = blockAfter(devnet, middle - 1)
    if (block !== undefined && block.slot <= slot) found = block
    else highest = middle - 1
  }
  const { height, hash, slot: at } = found
  return { height, hash, slot: at }
}

function chainBlock({ transactions, ...block }: DevnetBlock): ChainBlock {
  return { ...block, transactionCount: transactions.length }
}

/** The collateral is the fee if scripts failed. */
function totalsOf(devnet: Devnet, first: number, last: number): BlockTotals {
  let [transactions, output, fees] = [0, 0n, 0n]
  for (const { transaction } of transactionsOf(devnet, first, last)) {
    const { body, isValid } = transaction
    transactions += 1
    fees += isValid ? body.fee : (body.totalCollateral ?? 0n)
    for (const { output: produced } of effects(transaction).produced) output += produced.value.lovelace
  }
  return { transactions, output, fees }
}

/** The transactions of the blocks of two heights and those between them. */
function* transactionsOf(devnet: Devnet, first = 1, last = Number.POSITIVE_INFINITY) {
  for (let height = first; height <= Math.min(last, devnet.tip().height); height++) {
    const block = devnet.block(height)
    if (block === undefined) continue
    for (const [position, { hash, transaction }] of block.transactions.entries())
      yield { hash, transaction, place: { block, position } }
  }
}

function* redeemersOf(devnet: Devnet, script: string): Generator<ChainRedeemer> {
  for (const { hash, transaction } of transactionsOf(devnet)) {
    const { redeemers } = transaction.witnesses
    if (redeemers.length === 0 || !transaction.isValid) continue
    const targetOf = redeemerTargets(transaction)
    for (const { data, ...redeemer } of redeemers) {
      const target = targetOf(redeemer)
      if (target === undefined) continue
      const spent = 'output' in target ? devnet.output(outputReferenceKey(target.output)) : undefined
      const own = 'script' in target ? target.script : spent && paymentCredential(spent.output)
      if (own === script) yield { ...redeemer, hash, dataHash: toHex(blake2b256(data)) }
    }
  }
}

function* registrationsOf(devnet: Devnet, credential: Credential): Generator<StakeRegistration> {
  const wanted = credentialKey(credential)
  for (const { hash, place, transaction } of transactionsOf(devnet)) {
    if (!transaction.isValid) continue
    for (const certificate of transaction.body.certificates.filter(isStakeCertificate)) {
      if (credentialKey(stakeCredentialOf(certificate)) !== wanted) continue
      const deposit = certificate.deposit ?? devnet.parameters.keyDeposit
      yield { hash, place, ...(registers(certificate) && { deposit }) }
    }
  }
}

function* withdrawalsOf(devnet: Devnet, credential: Credential): Generator<AddressTransaction> {
  const wanted = credentialKey(credential)
  for (const { hash, place, transaction } of transactionsOf(devnet)) {
    const withdraws = transaction.body.withdrawals.some(
      ({ account }) => account.kind === 'reward' && credentialKey(account.stake) === wanted,
    )
    if (withdraws && transaction.isValid) yield { hash, place }
  }
}

/** The matching outputs, oldest first. */
function find(devnet: Devnet, query: ChainOutputQuery): ChainOutput[] {
  return findAt(devnet, query).filter((output) => isInSlots(output, query))
}

/** Those created and spent in any slot. */
function findAt(devnet: Devnet, query: ChainOutputQuery): ChainOutput[] {
  const { spent, address, stakeCredential, createdIn, spentIn, ...indexed } = query
  if (spent === false) {
    const found = devnet.utxos({ ...indexed, ...(address !== undefined && { address: textOf(address) }) })
    return found.filter(({ output }) => holdsFor(output, query))
  }
  const { transaction, references } = query
  const candidates = transaction === undefined ? devnet.outputs() : devnet.outputsOf(transaction)
  const wanted = references && new Set(references)
  return candidates.filter(
    ({ key, output, spent: spending }) =>
      (wanted === undefined || wanted.has(key)) &&
      (spent === undefined || spending !== undefined) &&
      holdsFor(output, query),
  )
}

/** The transactions of a history within a range, oldest first. */
function historyOf(
  devnet: Devnet,
  query: ChainOutputQuery,
  range: BlockRange = {},
): { hash: string; place: Place }[] {
  const touched = new Map<string, Place>()
  for (const { transactionHash, created, spent } of find(devnet, query)) {
    touched.set(transactionHash, created)
    if (spent !== undefined && query.unit === undefined) touched.set(spent.transactionHash, spent)
  }
  return Array.from(touched, ([hash, place]) => ({ hash, place }))
    .filter(({ place }) => isWithin(place, range))
    .sort((a, b) => comparePlaces(a.place, b.place))
}

/** Units in order of their first mint, with what is left of them. */
function assetsOf(devnet: Devnet, policy: string | undefined): { unit: string; quantity: bigint }[] {
  const quantities = new Map<string, bigint>()
  for (const { output, spent } of find(devnet, policy === undefined ? {} : { policy })) {
    for (const unit of units(output)) {
      if (policy !== undefined && !unit.startsWith(policy)) continue
      const left = quantities.get(unit) ?? 0n
      quantities.set(unit, spent === undefined ? left + quantityOf(output, unit) : left)
    }
  }
  return Array.from(quantities, ([unit, quantity]) => ({ unit, quantity }))
}

/** The genesis mints with its outputs, and transactions with what they produce beyond what they spend. */
function mintsOf(devnet: Devnet, unit: string): AssetMint[] {
  const quantityIn = ({ output }: ChainOutput) => quantityOf(output, unit)
  const changes = new Map<string, { quantity: bigint; place: Place }>()
  const add = (hash: string, place: Place, quantity: bigint) => {
    changes.set(hash, { quantity: (changes.get(hash)?.quantity ?? 0n) + quantity, place })
  }
  for (const found of find(devnet, { unit })) {
    add(found.transactionHash, found.created, quantityIn(found))
    if (found.spent !== undefined) add(found.spent.transactionHash, found.spent, -quantityIn(found))
  }
  return [...changes]
    .filter(([, { quantity }]) => quantity !== 0n)
    .sort(([, a], [, b]) => comparePlaces(a.place, b.place))
    .map(([hash, { quantity }]) => ({ hash, quantity }))
}

function assetOf(devnet: Devnet, unit: string): MintedAsset | undefined {
  const mints = mintsOf(devnet, unit)
  const [first, last] = [mints.at(0), mints.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const quantity = mints.reduce((sum, mint) => sum + mint.quantity, 0n)
  const described = new Set(devnet.labelled(721n))
  const newest = mints.findLast((mint) => mint.quantity > 0n && described.has(mint.hash))
  return {
    quantity,
    mints: mints.length,
    first: first.hash,
    last: last.hash,
    ...(newest && { described: newest.hash }),
  }
}

function quantityOf({ value }: TransactionOutput, unit: string): bigint {
  const { policy, name } = splitUnit(unit)
  return value.assets.get(policy)?.get(name) ?? 0n
}

/** @param address its bytes in hex */
function textOf(address: string): string {
  return addressText(decodeAddress(fromHex(address)))
}
