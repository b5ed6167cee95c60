import { fromHex, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { createScripts, readUtxo } from './outputs.js'

const empty = { type: 'all', scripts: [] }

/** An output with a native reference script of these bytes, as Blockfrost gives it. */
async function read(bytes: string, json: unknown = empty) {
  const scripts = createScripts(
    async (path) => (path.endsWith('/json') ? { json } : { type: 'timelock' }),
    (_, load) => load(),
  )
  const output = {
    tx_hash: '00'.repeat(32),
    output_index: 0,
    address: 'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
    amount: [{ unit: 'lovelace', quantity: '2000000' }],
    reference_script_hash: toHex(scriptHash('native', fromHex(bytes))),
  }
  return readUtxo(output, scripts, AbortSignal.timeout(1000))
}

test('an output with a native script is read', async () => {
  expect((await read('820180'))?.output.referenceScript).toMatchObject({ language: 'native' })
})

test('an output whose native script does not follow from its JSON is left out', async () => {
  expect(await read('82019fff')).toBeUndefined()
})

test('a script without JSON is an invalid answer', async () => {
  await expect(read('820180', null)).rejects.toMatchObject({ code: 'LAYER1_INVALID_ANSWER' })
})
