import { createPGlite } from '@ratatosk/test-kit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answerCommandLine } from './command-line.js'
import { StartError } from './errors.js'
import { pluginRow } from './node.js'
import { banner, explainFailure } from './run-node.js'
import { readSettings } from './settings/read.js'
import { startNode } from './start-node.js'

describe('banner', () => {
  const bannerOn = (NETWORK: string) => {
    const settings = { ...readSettings({}), NETWORK } as ReturnType<typeof readSettings>
    const places = { store: 'memory', queue: 'memory' }
    return banner({ url: 'http://127.0.0.1:3000', settings, places } as Parameters<typeof banner>[0])
  }

  test('only a devnet has test wallets, so only its node offers the demo', () => {
    expect(bannerOn('devnet')).toMatch(/demo (-- )?--url http:..127.0.0.1:3000/)
    expect(bannerOn('devnet')).toContain('/console#/bridge')
    for (const network of ['preprod', 'preview', 'mainnet']) {
      expect(bannerOn(network)).toContain('/stateQueue')
      expect(bannerOn(network)).not.toMatch(/demo|bridge/)
    }
  })

  test('the banner of a watcher names the wallet that pays', () => {
    const peers = { ARCHIVIST_PEERS: 'http://127.0.0.1:9', LAYER1_PROVIDER: 'blockfrost' }
    const settings = readSettings({ ...peers, NODE_ROLE: 'watcher', BLOCKFROST_URL: 'http://127.0.0.1:9' })
    const node = { url: 'http://127.0.0.1:3000', settings, places: {}, watcherAddress: 'addr_test1xyz' }
    const text = banner(node as Parameters<typeof banner>[0])
    expect(text).toMatch(/watcher pays from +addr_test1xyz/)
    expect(text).toContain('/block/1')
  })
})

describe('plugins', () => {
  const entry = { plugin: async () => {}, when: () => true, options: () => ({}) }
  const row = pluginRow(entry)

  test.each([
    [{}, 'plugin must be a function'],
    [{ ...entry, when: undefined }, 'when must be a function'],
    [{ ...entry, wen: entry.when }, 'there is no option wen; its options are plugin, when, options'],
  ])('a row of %o is refused', (wrong, message) => {
    expect(() => pluginRow(wrong as never)).toThrow(new TypeError(`pluginRow: ${message}`))
  })

  test.each([
    [{ plugin: [row] }, ': there is no option plugin; its options are log, clock, plugins'],
    [{ plugins: {} }, ': plugins must be an array of rows of pluginRow'],
    [{ plugins: [row, { register: row.register }] }, ': plugins[1]: when must be a function'],
    [{ plugins: [{ ...row, path: '/' }] }, ': plugins[0]: there is no option path; its options are when'],
  ])('a start with %o is refused', async (wrong, message) => {
    const refused = await startNode(readSettings({}), wrong as never).catch((error: unknown) => error)
    expect(String(refused)).toContain(`TypeError: startNode${message}`)
  })
})

describe('command line', () => {
  test.each([[], ['--version']])('an old version of Node.js gets a message, with arguments %j', (...args) => {
    const text =
      'Ratatosk needs Node.js 20.19 or later, and this is 20.18.3: install it from https://nodejs.org.\n'
    expect(answerCommandLine(args, '20.18.3')).toEqual({ text, exitCode: 1 })
  })

  test.each(['20.19.0', '22.0.0'])('Node.js %s starts the node', (node) => {
    expect(answerCommandLine([], node)).toBeUndefined()
  })
})

describe('run node', () => {
  test('a start that fails in the file system of PGlite says why', async () => {
    const pglite = await createPGlite()
    onTestFinished(() => pglite.close())
    const { FS } = pglite.Module
    const explain = (fail: () => unknown) => {
      try {
        fail()
      } catch (cause) {
        return explainFailure(new StartError('NODE_DATA_DIR', 'It cannot be opened.', { cause }))
      }
      return expect.fail('no failure')
    }
    expect(explain(() => FS.readFile('/nowhere'))).toMatch(/^Cause: WASI errno 44$/m)
    const full = explain(() => {
      throw new FS.ErrnoError(51)
    })
    expect(full).toMatch(/^Cause: No space is left on the disk$/m)
  })
})
