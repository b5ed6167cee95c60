import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { explainErrors, HttpError, httpErrors, OverloadedError } from '@ratatosk/http'
import { recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { settingNotes } from '../settings/schema.js'
import { helpOf } from './help.js'
import { logOptions } from './logger.js'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
/** They are not published, or make no errors. */
const privateFolders = /^(test-kit|test-vectors|fixtures)$/

/** They look like codes of ours: codes of others, parts of codes, a file. */
const others =
  /^(ERR|FST|HPE|UND|WS_ERR)_|^(DEAD_LETTERS|TX_QUERY|TX_STATUS)_?$|^PG_VERSION$|^SHOP_|^XDG_|^RATATOSK_/

/** The text of every source that is not a test. */
function sources(): string[] {
  return ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).flatMap((name) => {
      const folder = join(root, parent, name, 'src')
      if (privateFolders.test(name)) return []
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(
          (path) =>
            path.endsWith('.ts') && !/(^|\/)(test|e2e)\/|^server\/help\.ts$|\.(test|tap)\.ts$/.test(path),
        )
        .map((path) => readFileSync(join(folder, path), 'utf8'))
    }),
  )
}

const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
const anchors = [...page.matchAll(/<a id="(\w+)"><\/a>`\1(?:_\*)?`/g)].map(([, id = '']) => id)

test('every code in the sources has an entry, and every entry a code', () => {
  const text = sources().join('\n')
  const literals = new Set([...text.matchAll(/'([A-Z][A-Z0-9]*_[A-Z0-9_]+)'/g)].map(([, code = '']) => code))
  for (const [, prefix = ''] of text.matchAll(/new InvalidParameterError\(\s*'([A-Z_]+)'/g))
    literals.add(`${prefix}_INVALID_PARAMETER`)
  const isSetting = (code: string) => settingNotes.has(code) || settingNotes.has(code.replace(/_FILE$/, ''))
  const codes = [...literals].filter((code) => !others.test(code) && !isSetting(code))
  expect(codes.length).toBeGreaterThan(150)
  const entryOf = (code: string) => helpOf({ code })?.split('#')[1] ?? 'none'
  expect(codes.filter((code) => !anchors.includes(entryOf(code)))).toEqual([])

  expect(new Set(anchors).size).toBe(anchors.length)
  const used = new Set(codes.map(entryOf))
  // Quoted, or a key of the faucet's table.
  const isUsed = (entry: string) => used.has(entry) || new RegExp(`\\b${entry}\\b`).test(text)
  expect(anchors.filter((entry) => !isUsed(entry))).toEqual([])
})

test('help leads to the entry of an error, and is for our errors only', () => {
  const url = 'https://github.com/ratatosk-l2/ratatosk/blob/main/docs/errors.md'
  expect(helpOf(new OverloadedError())).toBe(`${url}#HTTP_OVERLOADED`)
  expect(helpOf({ code: 'CBOR_TOO_DEEP' })).toBe(`${url}#CBOR`)
  for (const value of [{ code: 'ENOENT' }, { code: 7 }, new Error('x'), undefined, 'HTTP_OVERLOADED'])
    expect(helpOf(value)).toBe(undefined)
})

test('a log line links to the code of its error, or its own', () => {
  const log = recordedLog()
  const logger = pino(logOptions({ LOG_LEVEL: 'info' }), log.stream)
  logger.warn({ err: new OverloadedError() }, 'refused')
  logger.warn({ code: 'QUEUE_REDIS_MAY_EVICT' }, 'Redis may evict jobs')
  logger.warn({ err: new Error('unexpected'), count: 3 }, 'failed')
  logger.info('up')
  const [refused, evicts, failed, up] = log.records()
  expect(refused).toMatchObject({
    help: helpOf({ code: 'HTTP_OVERLOADED' }),
    err: { code: 'HTTP_OVERLOADED' },
  })
  expect(evicts).toMatchObject({ help: helpOf({ code: 'QUEUE_REDIS_MAY_EVICT' }) })
  expect(failed).toMatchObject({ count: 3, err: { message: 'unexpected' } })
  for (const record of [failed, up]) expect(record).not.toHaveProperty('help')
})

test('an answer links to its error, if clients may know it, and its body is the same', async () => {
  const server = fastify()
  onTestFinished(() => server.close())
  explainErrors(server, helpOf)
  await server.register(httpErrors)
  const thrown: Readonly<Record<string, Error>> = {
    known: new OverloadedError(),
    hidden: Object.assign(new Error('secret'), { code: 'STORE_FAILED' }),
    foreign: new HttpError(418, 'SHOP_TEAPOT', 'Short and stout'),
  }
  for (const [name, error] of Object.entries(thrown))
    server.get(`/${name}`, async () => {
      throw error
    })
  const known = await server.inject('/known')
  expect(known.headers.link).toMatch(/^<https:.*\/errors\.md#HTTP_OVERLOADED>; rel="help"$/)
  expect(known.json()).toEqual({ error: 'The node is overloaded: retry later' })
  expect((await server.inject('/nothing')).headers.link).toMatch(/#DISABLED>/)
  for (const name of ['hidden', 'foreign'])
    expect((await server.inject(`/${name}`)).headers.link, name).toBe(undefined)
})
