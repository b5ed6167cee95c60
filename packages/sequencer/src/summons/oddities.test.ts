import { fromHex, toHex } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import { blake2b256, decodeBech32Address, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import type { OutputContent } from '@ratatosk/ledger/builder'
import { decodeAnyData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { administratorAddress, type OpenQuestion } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { drawing, encodedAnyhow } from '../../../contracts/dist/test/fraud/draw.js'
import { payOdd } from '../../../layer1/dist/test/devnet-harness.js'
import { until } from '../test/agreement.js'
import { chunkOf, openAnswering, summonsContracts } from '../test/asking.js'
import { accept, transfers } from '../test/rollup.js'
import { administratorKeys, operatorKeys } from '../test/rollup-contracts.js'
import { answerKeys } from './answer-wallet.js'
import { unansweredLine } from './questions.js'

const { policy, address, addressText } = summonsContracts.summons!
const log = (lines: object[]) => ({
  info() {},
  warn() {},
  error: (fields: object) => void lines.push(fields),
})

test('answers questions in encodings that serialiseData does not write', async (context) => {
  const { block, asker, chain } = await openAnswering(context, transfers(2))
  const draw = drawing(1)
  const validUntil = BigInt(chain.devnet.tip().slot) + 300n
  const asked: OpenQuestion[] = []
  const definite = (datum: Uint8Array) =>
    Uint8Array.from([...datum.subarray(0, 2), 0x86, ...datum.subarray(3, -1)])
  const anyhow = (datum: Uint8Array) => encodedAnyhow(decodeAnyData(datum), draw)
  for (const encoded of [definite, ...Array.from({ length: 9 }, () => anyhow)])
    asked.push(await asker.ask(block, chunkOf(block, 0), validUntil, encoded))
  const names = new Set(asked.map(({ name }) => name))
  const encodings = new Set(
    asked.map(({ utxo: { output } }) => output.datum.kind === 'inline' && toHex(output.datum.data)),
  )
  expect([names.size, encodings.size]).toEqual([1, asked.length])
  await until(() => asker.isAnswered(...asked))
})

/** A question that another version of the summons would have let be asked. */
const strange: Utxo = {
  reference: { transactionId: blake2b256(Uint8Array.of(1)), index: 5 },
  output: {
    address: { bytes: address },
    value: { lovelace: 3_000_000n, assets: new Map([[policy, new Map([['ab'.repeat(32), 1n]])]]) },
    datum: { kind: 'inline', data: encodePlutusData(7n) },
  },
} as unknown as Utxo

test('reports what it does not read as a question, once', async (context) => {
  let isShown = true
  const lines: object[] = []
  const layer1 = (layer1: Layer1): Layer1 => ({
    ...layer1,
    async utxosAt(at, options) {
      const utxos = await layer1.utxosAt(at, options)
      return at === addressText && isShown ? [...utxos, strange] : utxos
    },
  })
  const { sequencer, asker, block } = await openAnswering(context, transfers(2), {
    layer1,
    options: { log: log(lines) },
  })
  await until(async () => sequencer.questions.unread.length === 1)
  const line = unansweredLine(sequencer.questions, 0)
  expect(line).toContain(`the first is ${outputReferenceKey(strange.reference)}`)
  // It answers the others.
  const asked = await asker.ask(block, chunkOf(block, 0))
  await until(() => asker.isAnswered(asked))
  expect(lines).toEqual([{ code: 'SUMMONS_UNREAD' }])
  isShown = false
  await until(async () => unansweredLine(sequencer.questions, 0) === undefined)
})

const value = { lovelace: 60_000_000n, assets: new Map() }
const datum = { kind: 'inline', data: fromHex(`${'81'.repeat(1100)}00`) } as const
const deepScript = { language: 'native', bytes: fromHex(`${'820181'.repeat(600)}820400`) } as const

/* Anyone pays outputs that are nested deeper than layer 2 allows to an operator. */

test('an operator answers and commits whatever outputs its wallets get', async (context) => {
  const { store, chain, block, asker, sequencer } = await openAnswering(context, transfers(2))
  const administrator = decodeBech32Address(administratorAddress(summonsContracts))
  const poison = [answerKeys(operatorKeys).address, operatorKeys.address, administrator].flatMap(
    ({ bytes: address }): readonly OutputContent[] => [
      { address, value, datum },
      { address, value, datum: { kind: 'none' }, referenceScript: deepScript },
    ],
  )
  const { script } = summonsContracts.summons!
  const lure = { address: administrator.bytes, value, datum, referenceScript: script }
  for (const contents of [poison, [lure]])
    await chain.layer1.await(await payOdd(chain.layer1, administratorKeys, contents))

  const asked = await asker.ask(block, chunkOf(block, 0))
  await until(() => asker.isAnswered(asked))
  await accept(store, transfers(2, 2))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
})
