import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { loadGenesis } from '../network/genesis.js'
import { edits, nearMisses, readSettings } from './read.js'
import { readRegularFile } from './regular-file.js'
import { shortWindow } from './short-window.js'
import { problemsOf } from './test/problems-of.js'

describe('names', () => {
  test.each([
    ['OPERATOR_TOKNE', 'OPERATOR_TOKEN'],
    ['NETWROK', 'NETWORK'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['PROT', 'PORT'],
    ['OPERATOR_TOKEN_FIL', 'OPERATOR_TOKEN_FILE'],
    ['ADMIN_KEY', 'ADMIN_KEY_HASH'],
    ['MATURITY_WINDOW', 'MATURITY_WINDOW_MS'],
    ['MATURITY_WINDOW_SECONDS', 'MATURITY_WINDOW_MS'],
  ])('refuses %s, which is not a setting, and names %s', (variable, setting) => {
    const question = `Did you mean ${setting}? If not, set UNKNOWN_SETTINGS=warn.`
    const message = `${variable} is not a setting. ${question}`
    expect(problemsOf({ [variable]: 'x' })).toEqual([message])
    const warnings: string[] = []
    readSettings({ [variable]: 'x', UNKNOWN_SETTINGS: 'warn' }, (warning) => warnings.push(warning))
    expect(warnings).toEqual([message])
  })

  test('takes variables of other programs for no setting', () => {
    const others = {
      HOME: '/',
      PATH: '',
      PWD: '',
      TERM: '',
      USER: '',
      HOSTNAME: '',
      NODE_ENV: '',
      NO_COLOR: '',
      CI: '',
    }
    expect(nearMisses({ ...others, PORT: '1', FAUCET_TOKEN_FILE: '/x' })).toEqual([])
  })

  test('ignores what Kubernetes sets for a service of the name', () => {
    const warnings: string[] = []
    const settings = readSettings({ DEVNET_PORT: 'tcp://10.0.0.5:1337' }, (warning) => warnings.push(warning))
    expect(settings.DEVNET_PORT).toBeUndefined()
    expect(warnings).toEqual([expect.stringMatching(/^DEVNET_PORT is "tcp:.*it is ignored/)])
    expect(problemsOf({ DEVNET_PORT: 'http://10.0.0.5:1337' })).toHaveLength(1)
  })

  test.each([
    ['', '', 0],
    ['ab', 'ba', 1],
    ['abc', 'ab', 1],
    ['abcd', 'bacx', 2],
  ])('%s and %s are %i edits apart', (from, to, distance) => {
    expect(edits(from, to)).toBe(distance)
  })
})

describe('regular file', () => {
  function folderOf(context: TestContext): string {
    const folder = mkdtempSync(join(tmpdir(), 'ratatosk-settings-'))
    context.onTestFinished(() => rmSync(folder, { recursive: true }))
    return folder
  }

  const devnet = { name: 'devnet' } as never
  const notRegular = 'it is not a regular file. Name a file on a disk'

  test('a file is read up to its limit, also by a link, and where its size is not known', (context) => {
    const folder = folderOf(context)
    const file = join(folder, 'file')
    writeFileSync(file, 'é'.repeat(50_000))
    symlinkSync(file, join(folder, 'link'))
    expect(readRegularFile(join(folder, 'link'), 100_000)).toBe('é'.repeat(50_000))
    expect(() => readRegularFile(file, 99_999)).toThrow('it has more than 99999 bytes. Name another file')
    expect(readRegularFile('/proc/self/status', 100_000)).toMatch(/^Name:/)
  })

  test('what may have no end, or send nothing, is refused', (context) => {
    const folder = folderOf(context)
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of ['/dev/zero', pipe, folder])
      expect(() => readRegularFile(path, 10)).toThrow(notRegular)
    expect(() => readRegularFile(join(folder, 'none'), 10)).toThrow(
      'the file cannot be read: it does not exist',
    )
  })

  test('settings name what is wrong with the files that they name', async (context) => {
    const pipe = join(folderOf(context), 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(problemsOf({ OPERATOR_TOKEN_FILE: '/dev/zero', FAUCET_TOKEN_FILE: pipe })).toEqual([
      `OPERATOR_TOKEN_FILE is "/dev/zero": ${notRegular}.`,
      `FAUCET_TOKEN_FILE is "${pipe}": ${notRegular}.`,
    ])
    for (const GENESIS_FILE of [pipe, '/dev/zero'])
      await expect(loadGenesis({ GENESIS_FILE }, devnet)).rejects.toMatchObject({
        problems: [`GENESIS_FILE is "${GENESIS_FILE}": ${notRegular}.`],
      })
  })

  test('JSON of many levels is not parsed', async (context) => {
    const GENESIS_FILE = join(folderOf(context), 'genesis.json')
    writeFileSync(GENESIS_FILE, '['.repeat(1_000_000))
    await expect(loadGenesis({ GENESIS_FILE }, devnet)).rejects.toMatchObject({
      problems: [`GENESIS_FILE is "${GENESIS_FILE}": the file is not JSON (more than 100 levels).`],
    })
  })
})

test('a watcher warns of a window in which an operator has no time to restart', () => {
  const watcher = {
    NODE_ROLE: 'watcher',
    ARCHIVIST_PEERS: 'http://127.0.0.1:3000/archivist',
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: 'http://127.0.0.1:1337',
  }
  const warning = (settings: Record<string, string>) => shortWindow(readSettings({ ...watcher, ...settings }))
  expect(warning({})).toMatch(/^MATURITY_WINDOW_MS is 30000: an honest operator who is down for 10.5 s/)
  expect(warning({ VERDICT_POLICIES: 'none' })).toBe(undefined)
  expect(warning({ MATURITY_WINDOW_MS: '120000' })).toBe(undefined)
})
