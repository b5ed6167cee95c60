import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from './open-store.js'
import { type ServerSetting, serverWarnings } from './server-settings.js'
import { databaseUrl, describeEveryBackend, postgresql, type TestStore } from './test/backends.js'

function setting(name: string, setting: string, unit: string | null = null): ServerSetting {
  return { name, setting, unit, shown: `${setting}${unit ?? ''}` }
}

/** As PostgreSQL 15 is installed. */
const stock = [
  setting('fsync', 'on'),
  setting('full_page_writes', 'on'),
  setting('synchronous_commit', 'on'),
  setting('autovacuum', 'on'),
  setting('track_counts', 'on'),
  setting('shared_buffers', '16384', '8kB'),
  setting('max_wal_size', '1024', 'MB'),
  setting('checkpoint_timeout', '300', 's'),
  setting('wal_compression', 'off'),
]

function namesOf(warnings: readonly { readonly setting: string }[]): string[] {
  return warnings.map(({ setting }) => setting)
}

function changed(...changes: readonly ServerSetting[]): readonly ServerSetting[] {
  return stock.map((before) => changes.find(({ name }) => name === before.name) ?? before)
}

const tuned = changed(
  setting('shared_buffers', '131072', '8kB'),
  setting('max_wal_size', '8192', 'MB'),
  setting('checkpoint_timeout', '15', 'min'),
  setting('wal_compression', 'pglz'),
)

describe('warnings about settings', () => {
  it('name what makes a stock PostgreSQL slow', () => {
    const warnings = serverWarnings(stock)
    expect(namesOf(warnings)).toEqual([
      'shared_buffers',
      'max_wal_size',
      'checkpoint_timeout',
      'wal_compression',
    ])
    expect(new Set(warnings.map(({ code }) => code))).toEqual(new Set(['STORE_SLOW_SETTING']))
    for (const { setting, value, message } of warnings) expect(message).toContain(`${setting} is ${value}:`)
  })

  it('do not exist for a tuned one, nor for settings that it does not have', () => {
    expect(serverWarnings(tuned)).toEqual([])
    expect(serverWarnings([])).toEqual([])
  })

  it.each([
    ['fsync', 'off', 'STORE_UNSAFE_SETTING'],
    ['full_page_writes', 'off', 'STORE_UNSAFE_SETTING'],
    ['synchronous_commit', 'off', 'STORE_UNSAFE_SETTING'],
    ['autovacuum', 'off', 'STORE_SLOW_SETTING'],
    ['track_counts', 'off', 'STORE_SLOW_SETTING'],
  ])('name %s = %s', (name, value, code) => {
    const settings = tuned.map((before) => (before.name === name ? setting(name, value) : before))
    expect(serverWarnings(settings)).toMatchObject([{ setting: name, value, code }])
  })
})

describe.skipIf(postgresql.missing !== undefined)("a store's warnings on PostgreSQL", () => {
  let test: TestStore

  beforeAll(async () => {
    test = await postgresql.create()
  })

  afterAll(() => test.drop())

  async function warningsWith(options: string) {
    const url = new URL(databaseUrl)
    url.searchParams.set('options', options)
    const store = await openStore({ url: url.href, schema: test.schema, maxConnections: 1 })
    try {
      return await store.warnings()
    } finally {
      await store.close()
    }
  }

  it("follow the connection's settings", async () => {
    const bad = await warningsWith('-c synchronous_commit=off -c wal_compression=off')
    expect(bad).toContainEqual({
      code: 'STORE_UNSAFE_SETTING',
      setting: 'synchronous_commit',
      value: 'off',
      message: expect.stringMatching(/^PostgreSQL's synchronous_commit is off: /),
    })
    expect(namesOf(bad)).toContain('wal_compression')
    const good = namesOf(await warningsWith('-c synchronous_commit=on -c wal_compression=on'))
    expect(good).not.toContain('synchronous_commit')
    expect(good).not.toContain('wal_compression')
  })

  it("compare the server's sizes and times in the units that it gives them in", async () => {
    const [server] = await test.database.query<Record<string, boolean>>(
      `SELECT pg_size_bytes(current_setting('shared_buffers')) < 1073741824 AS shared_buffers,
        pg_size_bytes(current_setting('max_wal_size')) < 8589934592 AS max_wal_size,
        current_setting('checkpoint_timeout')::interval < '15 min' AS checkpoint_timeout,
        NOT current_setting('autovacuum')::boolean AS autovacuum`,
    )
    const names = namesOf(await test.store.warnings())
    for (const [name, isBad] of Object.entries(server!))
      expect([name, names.includes(name)]).toEqual([name, isBad])
  })
})

describeEveryBackend('warnings', (backend) => {
  it('are none for a PGlite, and never about what the store sets', async () => {
    const test = await backend.create()
    try {
      const names = namesOf(await test.store.warnings())
      if (backend.name === 'PGlite') expect(names).toEqual([])
      else expect(names).not.toContain('synchronous_commit')
    } finally {
      await test.drop()
    }
  })
})
