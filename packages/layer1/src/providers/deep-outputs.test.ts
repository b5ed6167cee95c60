import { fromHex, toHex } from '@ratatosk/cbor'
import {
  encodeBech32Address,
  outputReferenceKey,
  scriptAddress,
  scriptHash,
  type Utxo,
} from '@ratatosk/ledger'
import type { OutputContent, ScriptContent } from '@ratatosk/ledger/builder'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type Devnet,
  emptyKeys,
  evaluator,
  keys,
  limits,
  openDevnet,
  payOdd,
  serveApis,
} from '../test/devnet-harness.js'
import { jsonBy, serve } from '../test/http-server.js'
import type { Layer1 } from '../types.js'
import { openWallet } from '../wallet/open-wallet.js'
import { createBlockfrostLayer1 } from './blockfrost/create-blockfrost-layer1.js'
import { createDevnetLayer1 } from './devnet/create-devnet-layer1.js'
import { createKupmiosLayer1 } from './kupmios/create-kupmios-layer1.js'

/* Anyone can pay outputs whose data and scripts are nested deeper than layer 2 allows: they hide nothing. */

/** `(program 1.1.0 (lam context (con unit ())))` */
const succeeding: ScriptContent = { language: 'PlutusV3', bytes: fromHex('450101002499') }
const scriptHome = scriptAddress(scriptHash(succeeding.language, succeeding.bytes), 0)
const threeAda = { lovelace: 3_000_000n, assets: new Map() }

const lists = (depth: number) => fromHex(`${'81'.repeat(depth)}00`)
const datumOf = (data: Uint8Array) => ({ kind: 'inline', data }) as const
const inAll = (depth: number): ScriptContent => ({
  language: 'native',
  bytes: fromHex(`${'820181'.repeat(depth)}820400`),
})

const paid = (datum: OutputContent['datum'], more: Partial<OutputContent> = {}): OutputContent => ({
  address: keys.address.bytes,
  value: threeAda,
  datum,
  ...more,
})

const none = { kind: 'none' } as const
const odd: readonly OutputContent[] = [
  paid(datumOf(lists(1100))),
  paid(datumOf(lists(15_000))),
  paid(datumOf(fromHex(`${'d8669f009f'.repeat(2000)}00${'ffff'.repeat(2000)}`))),
  paid(datumOf(fromHex(`${'a100'.repeat(3000)}00`))),
  paid(none, { referenceScript: inAll(600) }),
  paid(none, { referenceScript: inAll(800) }),
  paid(datumOf(lists(1100)), { referenceScript: succeeding }),
]
const locked = paid(datumOf(lists(1100)), { address: scriptHome.bytes })
const funds = 3

const providers: { readonly [name: string]: (devnet: Devnet) => Promise<Layer1> | Layer1 } = {
  devnet: (devnet) => createDevnetLayer1(devnet, limits),
  async Blockfrost(devnet) {
    const { blockfrost: url, close } = await serveApis(devnet)
    onTestFinished(close)
    return createBlockfrostLayer1({ ...limits, url, networkMagic: 42 })
  },
  async 'Kupo and Ogmios'(devnet) {
    const { kupo: kupoUrl, ogmios: ogmiosUrl, close } = await serveApis(devnet)
    onTestFinished(close)
    return createKupmiosLayer1({ ...limits, kupoUrl, ogmiosUrl, networkMagic: 42 })
  },
}

describe.each(Object.entries(providers))('%s', (_, open) => {
  async function openScene() {
    const devnet = await openDevnet(funds, [...odd, locked])
    onTestFinished(() => devnet.close())
    const layer1 = await open(devnet)
    const wallet = openWallet({ layer1, keys, evaluator })
    const byIndex = new Map(
      (await layer1.utxosAt(keys.addressText)).map((utxo) => [utxo.reference.index, utxo]),
    )
    const at = (index: number) => byIndex.get(funds + index) as Utxo
    return { devnet, layer1, wallet, byIndex, at }
  }

  test('outputs are read whatever the depth of their data and scripts', async () => {
    const { layer1, byIndex, at } = await openScene()
    expect(byIndex.size).toBe(funds + odd.length)
    for (const [index, { datum, referenceScript }] of odd.entries()) {
      const { output } = at(index)
      if (datum.kind === 'inline') expect(output.datum).toEqual(datum)
      expect(output.referenceScript && toHex(output.referenceScript.bytes)).toBe(
        referenceScript && toHex(referenceScript.bytes),
      )
    }
    const { reference } = at(0)
    const read = await layer1.utxosByReferences([reference, { ...reference, index: 0 }])
    expect(read.map((utxo) => utxo.reference.index).sort()).toEqual([0, funds])
    expect(await layer1.utxosAt(encodeBech32Address(scriptHome))).toHaveLength(1)
  })

  test('a wallet counts such outputs, spends them, runs scripts beside them and refers to them', async () => {
    const { devnet, layer1, wallet, at } = await openScene()
    expect((await wallet.balance()).lovelace).toBe(BigInt(funds) * 1_000_000_000n + 7n * 3_000_000n)
    expect(await wallet.spendable({})).toBe(BigInt(funds) * 1_000_000_000n + 4n * 3_000_000n)
    const [held] = (await layer1.utxosAt(encodeBech32Address(scriptHome))) as [Utxo]
    const redeemer = fromHex('d87980')
    const { id, bytes } = await wallet.send({
      inputs: [{ utxo: held, redeemer }, { utxo: at(0) }, { utxo: at(1) }, { utxo: at(4) }],
      referenceInputs: [at(2), at(5), at(6)],
      outputs: [{ address: emptyKeys.addressText, lovelace: 5_000_000n }],
    })
    expect(bytes.length).toBeLessThan(2000)
    await devnet.produceBlock()
    await layer1.await(id)

    const spending = await layer1.spending(held.reference)
    expect(spending).toMatchObject({ transactionId: id, redeemer })
    if (layer1.name === 'kupmios') return
    expect(spending?.referenceInputs?.map((utxo) => utxo && outputReferenceKey(utxo.reference))).toEqual(
      [at(2), at(5), at(6)].map(({ reference }) => outputReferenceKey(reference)),
    )
    expect(spending?.referenceInputs?.map((utxo) => utxo?.output.datum)).toEqual(
      [at(2), at(5), at(6)].map(({ output }) => output.datum),
    )
  })

  test('a transaction with deep data is sent', async () => {
    const { devnet, layer1, wallet } = await openScene()
    const deep = lists(12_000)
    const value = { lovelace: 60_000_000n, assets: new Map() }
    const content = { address: emptyKeys.address.bytes, value, datum: datumOf(deep) }
    const id = await payOdd(layer1, keys, [content])
    await devnet.produceBlock()
    await layer1.await(id)
    const found = await layer1.utxosAt(emptyKeys.addressText)
    expect(found.map(({ output }) => output.datum)).toEqual([datumOf(deep)])
    expect((await wallet.balance()).lovelace).toBeGreaterThan(0n)
  })
})

describe('answers that are odd', () => {
  const transaction = '22'.repeat(32)
  const spender = '33'.repeat(32)
  const output = (output_index: number, more: object = {}) => ({
    tx_hash: transaction,
    output_index,
    address: keys.addressText,
    amount: [{ unit: 'lovelace', quantity: '2000000' }],
    data_hash: null,
    inline_datum: null,
    reference_script_hash: null,
    collateral: false,
    ...more,
  })

  async function blockfrost(bodies: Readonly<Record<string, unknown>>) {
    const warnings: unknown[] = []
    const server = await serve(jsonBy({ '/genesis': { network_magic: 42, system_start: 0 }, ...bodies }))
    onTestFinished(() => server.close())
    const log = { warn: (fields: object) => warnings.push(fields) }
    return { layer1: createBlockfrostLayer1({ ...limits, url: server.url, networkMagic: 42, log }), warnings }
  }

  async function kupo(matches: readonly unknown[], scripts: Readonly<Record<string, unknown>> = {}) {
    const warnings: unknown[] = []
    const list = JSON.stringify(matches)
    const server = await serve((request, response) => {
      const path = request.url?.split('?')[0] ?? ''
      response.setHeader('content-type', 'application/json')
      if (request.method === 'POST') response.end('{"jsonrpc":"2.0","result":{"networkMagic":42}}')
      else if (path.startsWith('/scripts/')) response.end(JSON.stringify(scripts[path.slice(9)] ?? null))
      else response.end(list)
    })
    onTestFinished(() => server.close())
    const log = { warn: (fields: object) => warnings.push(fields) }
    const urls = { kupoUrl: server.url, ogmiosUrl: server.url }
    return { layer1: createKupmiosLayer1({ ...limits, ...urls, networkMagic: 42, log }), warnings }
  }

  const match = (output_index: number, more: object = {}) => ({
    transaction_id: transaction,
    output_index,
    address: keys.addressText,
    value: { coins: 2_000_000, assets: {} },
    datum_hash: null,
    script_hash: null,
    created_at: { slot_no: 1, header_hash: '00'.repeat(32) },
    spent_at: null,
    ...more,
  })

  const indexes = (utxos: readonly Utxo[]) => utxos.map(({ reference }) => reference.index)
  const odd1 = { transactionId: fromHex(transaction), index: 1 }

  test('Blockfrost: one that does not decode is left out of a wallet, and reported once', async () => {
    const { layer1, warnings } = await blockfrost({
      [`/addresses/${keys.addressText}/utxos`]: [
        output(0),
        output(1, { inline_datum: 'f6' }),
        output(2, { reference_script_hash: '44'.repeat(28) }),
        output(3),
      ],
      [`/scripts/${'44'.repeat(28)}`]: { type: 'plutusV9' },
    })
    expect(indexes(await layer1.utxosAt(keys.addressText))).toEqual([0, 3])
    expect(indexes(await layer1.utxosAt(keys.addressText))).toEqual([0, 3])
    expect(warnings).toMatchObject([{ reference: `${transaction}#1` }, { reference: `${transaction}#2` }])
  })

  test('Blockfrost: one that does not decode hides no other of its transaction', async () => {
    const { layer1 } = await blockfrost({
      [`/txs/${transaction}/utxos`]: { inputs: [], outputs: [output(0), output(1, { address: 'none' })] },
    })
    expect(indexes(await layer1.utxosByReferences([{ ...odd1, index: 0 }]))).toEqual([0])
    // It is not spent, so it must not seem so.
    await expect(layer1.utxosByReferences([odd1])).rejects.toMatchObject({ code: 'LAYER1_INVALID_ANSWER' })
  })

  test('Blockfrost: the redeemer of a spending is read whatever it refers to', async () => {
    const references = [output(1, { inline_datum: '4107' }), output(2), output(3, { inline_datum: '4109' })]
    const inputs = references.map((each) => ({ ...each, reference: true }))
    inputs[0]!.reference_script_hash = '44'.repeat(28) as unknown as null
    inputs[1]!.address = 'none'
    const input = (index: number) => `825820${transaction}0${index}`
    const body = `a300d9010281${input(0)}0180${'12'}d9010283${input(3)}${input(2)}${input(1)}`
    const { layer1 } = await blockfrost({
      [`/txs/${transaction}/utxos`]: { inputs: [], outputs: [output(0, { consumed_by_tx: spender })] },
      [`/txs/${spender}/utxos`]: { inputs, outputs: [] },
      [`/txs/${spender}/cbor`]: { cbor: `84${body}a105a182000082${'81'.repeat(1100)}00820000f5f6` },
    })
    const spending = await layer1.spending({ ...odd1, index: 0 })
    expect(spending?.redeemer).toEqual(lists(1100))
    expect(spending?.referenceInputs?.map((utxo) => utxo?.output.datum)).toEqual([
      datumOf(fromHex('4107')),
      undefined,
      datumOf(fromHex('4109')),
    ])
  })

  test('Kupo: one that does not decode is left out of a wallet, and reported once', async () => {
    const odd = [
      match(0),
      match(1, { address: `${keys.addressText}q` }),
      match(2, { script_hash: '44'.repeat(28) }),
      match(3, { script_hash: '55'.repeat(28) }),
      match(4),
    ]
    const { layer1, warnings } = await kupo(odd, {
      ['44'.repeat(28)]: { language: 'plutus:v9', script: '00' },
      ['55'.repeat(28)]: { language: 'native', script: '820400' },
    })
    for (const _ of [1, 2]) expect(indexes(await layer1.utxosAt(keys.addressText)).sort()).toEqual([0, 4])
    expect(warnings).toMatchObject([1, 2, 3].map((index) => ({ reference: `${transaction}#${index}` })))
  })

  test('Kupo: one that does not decode hides no other of its transaction', async () => {
    const { layer1 } = await kupo([match(0), match(1, { address: 'none' })])
    expect(indexes(await layer1.utxosByReferences([{ ...odd1, index: 0 }]))).toEqual([0])
    await expect(layer1.utxosByReferences([odd1])).rejects.toMatchObject({ code: 'LAYER1_INVALID_ANSWER' })
  })
})
