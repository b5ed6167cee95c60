import { fromHex } from '@ratatosk/cbor'
import { createBlockfrostLayer1, createKupmiosLayer1, type Layer1 } from '@ratatosk/layer1'
import { decodeBech32Address, encodeBech32Address, keyAddress, type Utxo } from '@ratatosk/ledger'
import type { OutputContent } from '@ratatosk/ledger/builder'
import { administratorAddress, referenceScriptsOf } from '@ratatosk/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { payOdd, serveApis } from '../../../layer1/dist/test/devnet-harness.js'
import { blockOf } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { summonsContracts as contracts } from '../../../protocol/dist/test/protocol-scene.js'
import { openAnswerer } from './test/answerer.js'
import { keys, newest, openWatched, openWatcher, otherKeys, until, type Watched } from './test/scene.js'

/* Anyone pays outputs that are nested deeper than layer 2 allows to all who prove a theft. */

const watcherKeys = otherKeys
const refunds = keyAddress(watcherKeys.payment.hash, 0)
const administrator = decodeBech32Address(administratorAddress(contracts))

const value = { lovelace: 60_000_000n, assets: new Map() }
const deepDatum = { kind: 'inline', data: fromHex(`${'81'.repeat(1100)}00`) } as const
const deepScript = { language: 'native', bytes: fromHex(`${'820181'.repeat(600)}820400`) } as const

const poison: readonly OutputContent[] = [keys.address, watcherKeys.address, refunds, administrator].flatMap(
  ({ bytes: address }) => [
    { address, value, datum: deepDatum },
    { address, value, datum: { kind: 'none' }, referenceScript: deepScript },
  ],
)

/** The script of the summons, in an output that has a deep datum too. */
const lure: OutputContent = {
  address: administrator.bytes,
  value,
  datum: deepDatum,
  referenceScript: contracts.summons!.script,
}

async function pay({ scene: { layer1 } }: Watched, contents: readonly OutputContent[]): Promise<void> {
  await layer1.await(await payOdd(layer1, keys, contents))
}

/** The outputs at the administrator's address that hold the script of the summons, the lure first. */
async function lured({ scene: { layer1 } }: Watched): Promise<readonly Utxo[]> {
  const utxos = await layer1.utxosAt(administratorAddress(contracts))
  const isLure = ({ output }: Utxo): boolean => output.datum.kind === 'inline'
  const found = referenceScriptsOf(contracts, utxos)
  return [...found.filter(isLure), ...found.filter((utxo) => !isLure(utxo))]
}

const providers: { readonly [name: string]: (watched: Watched) => Promise<Layer1> | Layer1 } = {
  devnet: ({ scene }) => scene.layer1,
  async Blockfrost({ scene }) {
    const { blockfrost: url, close } = await serveApis(scene.devnet)
    onTestFinished(close)
    return createBlockfrostLayer1({ url, networkMagic: 42, pollMs: 20 })
  },
  async 'Kupo and Ogmios'({ scene }) {
    const { kupo: kupoUrl, ogmios: ogmiosUrl, close } = await serveApis(scene.devnet)
    onTestFinished(close)
    return createKupmiosLayer1({ kupoUrl, ogmiosUrl, networkMagic: 42, pollMs: 20 })
  },
}

test.each(Object.entries(providers))('a theft is removed by %s', { timeout: 60_000 }, async (name, open) => {
  const watched = await openWatched({ contracts })
  const { transactions, large, conjured } = watched.story
  // Kupo does not know the datums to which an answer refers.
  const committed = blockOf(
    name.startsWith('Kupo') ? [...transactions, conjured] : [...transactions, large, conjured],
  )
  const block = await watched.commit(committed)
  await pay(watched, poison)
  await pay(watched, [lure])

  // The time is that of the devnet.
  const { currentSlot } = watched.scene.layer1
  const layer1: Layer1 = { ...(await open(watched)), currentSlot }
  // Each answer refers to the lure, beside datums that hold a part of the chunk.
  const operator = await openAnswerer(
    { ...watched.scene, layer1, referenceScripts: await lured(watched) },
    committed,
  )
  onTestFinished(() => operator.close())
  const { errors, watcher } = openWatcher(watched, [block], {
    layer1,
    withheld: { judge: async () => false },
    patienceMs: 20_000,
  })
  await until('it is removed', async () => (await watched.queued()).length === 0)
  await until('the verdict is settled', async () => {
    const verdict = await newest(watched)
    expect(verdict?.state).not.toBe('unprovable')
    return verdict?.state === 'removed'
  })
  expect(operator.answered.length).toBeGreaterThan(0)
  expect(errors).toEqual([])
  expect(watcher.status()).toBeDefined()
  const left = await layer1.utxosAt(encodeBech32Address(refunds))
  expect(left.every(({ output }) => output.value.lovelace === value.lovelace)).toBe(true)
})
