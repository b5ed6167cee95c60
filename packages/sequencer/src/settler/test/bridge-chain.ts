import {
  blockVersion,
  deriveBlock,
  encodeHeader,
  genesisHeaderHash,
  type Header,
  headerHash,
} from '@ratatosk/block'
import { BytesMap } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { openWallet, type Wallet } from '@ratatosk/layer1'
import {
  blake2b224,
  decodeTransaction,
  encodeBech32Address,
  keyAddress,
  type OutputReference,
  slotToTime,
  type Utxo,
} from '@ratatosk/ledger'
import {
  type BuiltTransaction,
  encodeBody,
  encodeTransaction,
  encodeWitnesses,
  keysFromSeedPhrase,
  type TransactionDraft,
  toOutput,
} from '@ratatosk/ledger/builder'
import {
  buildDeposit,
  type Contracts,
  commitBlock,
  initQueue,
  initRegistry,
  mergeBlock,
  openContracts,
  publishScripts,
  readRegistry,
  readStateQueue,
  referenceScriptsOf,
  registerOperator,
  scriptsToPublish,
} from '@ratatosk/protocol'
import type { Block, HeldLease, Leases } from '@ratatosk/store'
import { rootOf } from '@ratatosk/trie'
import type { TestContext } from 'vitest'
import { evaluator, openChain, contracts as plain, type TestChain } from '../../test/rollup.js'
import { administratorKeys, bridgeTerms, operatorKeys } from '../../test/rollup-contracts.js'
import { settlerKeys } from '../create-settler.js'
import type { BridgeContracts, SettlerOptions } from '../types.js'

export const ada = 1_000_000n
export const { payoutFee } = bridgeTerms

/** @throws Error if the contracts have no bridge */
export function withBridge(opened: Contracts): BridgeContracts {
  const { bridge } = opened
  if (bridge === undefined) throw new Error('the contracts have no bridge')
  return { ...opened, bridge }
}

export const contracts = withBridge(openContracts({ ...plain.parameters, bridge: bridgeTerms }, 0))

/** The keys of another payer. */
export const rivalKeys = settlerKeys(keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 7 }))

/** Where withdrawal `n` is paid on layer 1. */
export const payee = (n: number) => keyAddress(blake2b224(Uint8Array.of(n >> 8, n)), 0)

/** Withdrawal `n`: 3 ada and a little. `target` replaces its address. */
export const withdrawn = (n: number): bigint => 3n * ada + BigInt(n)

/** An output that leaves for an address of layer 1. */
export const leaving = (
  lovelace: bigint,
  target: Uint8Array,
  { address } = contracts.bridge.place,
): Uint8Array =>
  toOutput({
    address,
    value: { lovelace, assets: new Map() },
    datum: { kind: 'inline', data: Uint8Array.of(0x58, target.length, ...target) },
  }).bytes

function transactionOf(input: OutputReference, outputs: readonly Uint8Array[]): Uint8Array {
  const body = encodeBody({
    inputs: [input],
    outputs,
    fee: 0n,
    collateral: [],
    requiredSigners: [],
    referenceInputs: [],
  })
  return encodeTransaction(
    body,
    encodeWitnesses({ keyWitnesses: [], scripts: [], datums: [], redeemers: [] }),
  )
}

/** A transaction of layer 2 with one withdrawal, to payee `n`. */
export const withdrawal = (n: number, lovelace: bigint): Uint8Array =>
  transactionOf({ transactionId: new Uint8Array(32).fill(0x21), index: n }, [
    leaving(lovelace, payee(n).bytes),
  ])

/** Transactions of layer 2 with some withdrawals, ten in each, and one more that cannot be paid. */
export function withdrawals(
  count: number,
  from = 0,
  inputs: readonly OutputReference[] = [],
): readonly Uint8Array[] {
  const transactions: Uint8Array[] = []
  for (let first = 0; first < count; first += 10) {
    const numbers = Array.from({ length: Math.min(10, count - first) }, (_, n) => from + first + n)
    const outputs = numbers.map((n) => leaving(withdrawn(n), payee(n).bytes))
    outputs.push(leaving(withdrawn(from + first), new Uint8Array(29).fill(0xff)))
    const input = inputs[first / 10] ?? { transactionId: new Uint8Array(32).fill(0x20), index: from + first }
    transactions.push(transactionOf(input, outputs))
  }
  return transactions
}

/** Leases of one process group, as a store has them. */
export function fakeLeases(): Pick<Leases, 'hold'> & { expire(): void } {
  const held = new Map<string, AbortController>()
  return {
    async hold(name, holder) {
      if (held.has(name)) return undefined
      const lost = new AbortController()
      held.set(name, lost)
      const lease: HeldLease = {
        lease: { name, holder, token: 1n, expiresAt: new Date() },
        lost: lost.signal,
        async release() {
          if (held.get(name) === lost) held.delete(name)
        },
      }
      return lease
    },
    expire() {
      for (const lost of held.values()) lost.abort()
      held.clear()
    },
  }
}

export type BridgeChain = Awaited<ReturnType<typeof openBridgeChain>>

/** A rollup with a bridge whose scripts are published, on a devnet, and its blocks. */
export async function openBridgeChain(context: TestContext) {
  const chain: TestChain = await openChain(context)
  const { layer1, clock, devnet, mine } = chain
  const open = (keys: typeof operatorKeys): Wallet => openWallet({ layer1, keys, evaluator, withholdMs: 50 })
  const wallet = open(administratorKeys)
  const operator = open(operatorKeys)
  const blocks = new BytesMap<{ readonly block: Block; readonly transactions: readonly Uint8Array[] }>()

  async function run(draft: TransactionDraft, by = wallet): Promise<BuiltTransaction> {
    const built = await by.send(draft, by === wallet ? { cosigners: [operatorKeys.payment] } : {})
    await mine()
    await layer1.await(built.id)
    return built
  }
  const registry = async () => {
    const found = readRegistry(contracts, await layer1.utxosByUnit(contracts.scripts.registry.unit))
    if (found === undefined) throw new Error('there is no registry')
    return found
  }
  const queue = async () =>
    readStateQueue(contracts, await layer1.utxosByPolicy(contracts.scripts.queue.policy))

  const [deployment] = await layer1.utxosByReferences([contracts.parameters.deploymentOutput])
  await run(initRegistry(contracts, deployment!))
  const published: Utxo[] = []
  for (const group of scriptsToPublish(contracts))
    published.push(...(await run(publishScripts(contracts, group))).produced)
  const referenceScripts = referenceScriptsOf(contracts, published)
  const { slots } = devnet
  const validity = { validFrom: devnet.currentSlot(), validUntil: devnet.currentSlot() + 10n, slots }
  const { hash } = operatorKeys.payment
  await run(registerOperator(contracts, await registry(), hash, validity, referenceScripts))
  const now = slotToTime(slots, devnet.currentSlot())
  const state = {
    headerHash: genesisHeaderHash(),
    prevHeaderHash: genesisHeaderHash(),
    utxoRoot: new Uint8Array(32),
    startTime: now,
    endTime: now,
    blockVersion,
  }
  await run(initQueue(contracts, await registry(), state, referenceScripts))

  async function nextHeader(withdrawalsRoot: Uint8Array): Promise<Header> {
    const { state } = (await queue()).roots[0]!.datum
    return {
      prevUtxosRoot: state.utxoRoot,
      utxosRoot: state.utxoRoot,
      transactionsRoot: new Uint8Array(32).fill(7),
      depositsRoot: new Uint8Array(32),
      withdrawalsRoot,
      startTime: state.endTime,
      endTime: slotToTime(slots, devnet.currentSlot() + 20n),
      prevHeaderHash: state.headerHash,
      operatorVkey: operatorKeys.payment.hash,
      blockVersion,
    }
  }

  return {
    ...chain,
    wallet,
    operator,
    open,
    run,
    referenceScripts,
    slots,
    registry,
    queue,
    blocks: {
      byHash: async (hash: Uint8Array) => blocks.get(hash)?.block,
      transactionsOf: async (hash: Uint8Array, { offset = 0, limit = 1000 } = {}) =>
        (blocks.get(hash)?.transactions ?? [])
          .map((cbor, n) => ({ sequence: BigInt(n), id: decodeTransaction(cbor).id, cbor }))
          .slice(offset, offset + limit),
    } satisfies SettlerOptions['blocks'],
    /** Commits and merges a block with transactions. `isOwn`: whether its merge is that of this store. */
    async merge(transactions: readonly Uint8Array[], isOwn = true): Promise<Uint8Array> {
      const { hash: bridge } = contracts.bridge.place.script
      const derived = deriveBlock(transactions, () => undefined, { bridge })
      await chain.nextTurn()
      const header = await nextHeader(await rootOf(derived.withdrawals()))
      const own = headerHash(header)
      const slot = devnet.currentSlot()
      const given = { registry: await registry(), slots, referenceScripts }
      const committed = await run(commitBlock(contracts, { ...given, queue: await queue(), header, slot }))
      clock.time = Number(header.endTime + contracts.parameters.maturityWindow)
      const merged = await run(
        mergeBlock(contracts, { ...given, queue: await queue(), slot: devnet.currentSlot() }),
      )
      const stored = (built: BuiltTransaction) => ({ id: built.id, cbor: built.bytes })
      const block: Block = {
        ...header,
        headerHash: own,
        header: encodeHeader(header),
        previousHeaderHash: header.prevHeaderHash,
        firstSequence: 1n,
        lastSequence: 1n,
        transactions: transactions.length,
        height: BigInt(blocks.size + 1),
        state: 'merged',
        builtAt: new Date(),
        commitTransaction: stored(committed),
        ...(isOwn && { mergeTransaction: stored(merged) }),
      }
      blocks.set(own, { block, transactions })
      return own
    },
    /** Deposits ada, and waits until a block may credit it. */
    async deposit(lovelace: bigint): Promise<void> {
      const validUntil = devnet.currentSlot() + 10n
      const request = { to: payee(0).bytes, lovelace, validUntil, slots, referenceScripts }
      const { built } = await buildDeposit(wallet, contracts, request)
      await wallet.submit(built)
      await mine()
      await layer1.await(built.id)
    },
    /** Puts reserves into the treasury. */
    async reserves(...amounts: readonly bigint[]): Promise<void> {
      const { address } = contracts.bridge.place
      await run({ outputs: amounts.map((lovelace) => ({ address, lovelace })) })
    },
    /** Gives a wallet outputs of 20 ada each. */
    async fund(address: string, count = 4): Promise<void> {
      await run({ outputs: Array.from({ length: count }, () => ({ address, lovelace: 20n * ada })) })
    },
    /** Each payment to a payee on layer 1. */
    async paidTo(n: number): Promise<readonly bigint[]> {
      const payments = await layer1.utxosAt(encodeBech32Address(payee(n)))
      return payments.map(({ output }) => output.value.lovelace)
    },
    atBridge: async () => (await layer1.utxosAsOf(contracts.bridge.place.addressText)).utxos,
  }
}
