import type { Header } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { encodeOutputReference, type Utxo, type Value } from '@ratatosk/ledger'
import { toOutput } from '@ratatosk/ledger/builder'
import { createMemoryStore, createTrie } from '@ratatosk/trie'
import { onTestFinished } from 'vitest'
import { openEventSource } from '../bridge.js'
import { publishScripts, referenceScriptsOf, scriptsToPublish } from '../contracts.js'
import { buildDeposit, type DepositRequest } from '../deposit-drafts.js'
import { type OwedWithdrawal, takeOwed } from '../payout-drafts.js'
import { mergeBlock } from '../queue-drafts.js'
import {
  begin,
  bridgedContracts,
  bridgedPolicy,
  bridgedScript,
  commit,
  contracts,
  openScene,
  otherKeys,
  type Scene,
} from './protocol-scene.js'

/** A scene whose devnet is closed when the test ends. */
export async function openClosedAfter(own = contracts): Promise<Scene> {
  const scene = await openScene(own)
  onTestFinished(() => scene.devnet.close())
  return scene
}

const bridge = bridgedContracts.bridge!

/** A rollup with a bridge, whose scripts are published and whose first operator holds bridged assets. */
export async function openBridge() {
  const scene = await openClosedAfter(bridgedContracts)
  const { run, wallet, devnet, slots, layer1, clock } = scene
  await begin(scene)
  const published: Utxo[] = []
  for (const group of scriptsToPublish(bridgedContracts))
    published.push(...(await run(publishScripts(bridgedContracts, group))).produced)
  const referenceScripts = referenceScriptsOf(bridgedContracts, published)
  const minted = new Map([
    ['', 1000n],
    ['bb', 1000n],
    ['aabb', 1000n],
  ])
  await run({
    mint: [{ policy: bridgedPolicy, assets: minted }],
    scripts: [bridgedScript],
    outputs: [{ address: wallet.address, assets: new Map([[bridgedPolicy, minted]]) }],
  })
  const events = openEventSource(bridgedContracts, { utxosAsOf: layer1.utxosAsOf }, slots)

  const request = (change: Partial<DepositRequest> = {}): DepositRequest => ({
    to: otherKeys.address.bytes,
    lovelace: 20_000_000n,
    validUntil: devnet.currentSlot() + 10n,
    slots,
    referenceScripts,
    ...change,
  })

  async function produceBlock(): Promise<void> {
    clock.time += 1000
    await devnet.produceBlock()
  }

  return {
    ...scene,
    scene,
    bridge,
    referenceScripts,
    events,
    request,
    async state() {
      return openEventSource(bridgedContracts, layer1, slots).state()
    },
    async deposit(change: Partial<DepositRequest> = {}) {
      const deposit = await buildDeposit(wallet, bridgedContracts, request(change))
      await wallet.submit(deposit.built)
      await produceBlock()
      return deposit
    },
    /** Commits and merges a block. */
    async merge(change: Partial<Header> = {}) {
      const committed = await commit(scene, referenceScripts, change)
      clock.time = Number(committed.header.endTime + bridgedContracts.parameters.maturityWindow)
      const [queue, registry] = [await scene.queue(), await scene.registry()]
      const slot = devnet.currentSlot()
      await run(mergeBlock(bridgedContracts, { queue, registry, slot, slots, referenceScripts }))
      return committed
    },
  }
}

/** The output of a withdrawal: `target` is the content of its datum. */
export const withdrawalOutput = (value: Value, target: Uint8Array): Uint8Array =>
  toOutput({
    address: bridge.place.address,
    value,
    datum: { kind: 'inline', data: Uint8Array.of(0x58, target.length, ...target) },
  }).bytes

/** A map of what is owed. */
export function owing(outputs: readonly Uint8Array[]) {
  const all = outputs.map((output, index) => ({
    outref: encodeOutputReference({ transactionId: fromHex('77'.repeat(32)), index }),
    output,
  }))
  const map = createTrie({ store: createMemoryStore(), history: 0 })
  map.update(all.map(({ outref: key, output: value }) => ({ type: 'insert', key, value })))
  return {
    get root() {
      return Uint8Array.from(map.root)
    },
    /** Those that are left. */
    get owed() {
      return all.filter(({ outref }) => map.has(outref))
    },
    take: (wanted: readonly OwedWithdrawal[]) => takeOwed(map, wanted),
  }
}
