import { fromHex, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { describe, expect, it, test } from 'vitest'
import { providerSuite } from '../../provider-suite/index.js'
import { serveApis } from '../../test/devnet-apis.js'
import { openHarness } from '../../test/devnet-harness.js'
import { createBlockfrostLayer1 } from './create-blockfrost-layer1.js'
import { createScripts, readUtxo } from './outputs.js'

describe('blockfrost', () => {
  describe('Blockfrost', () => {
    const suite = providerSuite((options) =>
      openHarness(options, async (devnet, limits) => {
        const { blockfrost, close } = await serveApis(devnet)
        const layer1 = createBlockfrostLayer1({
          ...limits,
          url: blockfrost,
          projectId: 'secret',
          networkMagic: 42,
        })
        return { layer1, target: 'blockfrost', close }
      }),
    )
    it.each(suite)('$name', ({ run }) => run())
  })
})

describe('outputs', () => {
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
})
