import { fromHex, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { describe, expect, it, test } from 'vitest'
import { Layer1Error } from '../../errors.js'
import { providerSuite } from '../../provider-suite/index.js'
import { openHarness, serveApis } from '../../test/devnet-harness.js'
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
  const leftOut: string[] = []

  /** An output with a native reference script of these bytes, as Blockfrost gives it. */
  async function read(bytes: string, json: () => unknown = () => empty) {
    const scripts = createScripts(async (path) =>
      path.endsWith('/json') ? { json: json() } : { type: 'timelock' },
    )
    const output = {
      tx_hash: '00'.repeat(32),
      output_index: 0,
      address: 'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
      amount: [{ unit: 'lovelace', quantity: '2000000' }],
      reference_script_hash: toHex(scriptHash('native', fromHex(bytes))),
    }
    const leaveOut = (...output: readonly string[]) => leftOut.push(output.join(' '))
    return readUtxo(output, { scripts, leaveOut }, false, AbortSignal.timeout(1000))
  }

  test('an output with a native script is read', async () => {
    expect((await read('820180'))?.output.referenceScript).toMatchObject({ language: 'native' })
  })

  test('an output whose native script does not follow from its JSON is left out', async () => {
    expect(await read('82019fff')).toBeUndefined()
    expect(leftOut).toEqual([
      expect.stringContaining(`${'00'.repeat(32)}#0 Blockfrost does not give the bytes`),
    ])
  })

  test.each(['LAYER1_PROVIDER_ERROR', 'LAYER1_INVALID_ANSWER'] as const)(
    'an output is left out if the server has no JSON of its native script: %s',
    async (code) => {
      const fail = () => {
        throw new Layer1Error(code, 'Blockfrost answered 500')
      }
      expect(await read('820180', fail)).toBeUndefined()
      expect(await read('820180', () => null)).toBeUndefined()
    },
  )

  test('a read fails if the server does not answer', async () => {
    const fail = () => {
      throw new Layer1Error('LAYER1_RATE_LIMITED', 'Blockfrost limits the request rate')
    }
    await expect(read('820180', fail)).rejects.toMatchObject({ code: 'LAYER1_RATE_LIMITED' })
  })
})
