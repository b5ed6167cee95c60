import {
  bool,
  type Database,
  inSchema,
  int4,
  nullable,
  openPostgres,
  type PostgresOptions,
  quoteSchema,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import { toStoreError } from './errors.js'

/** A setting of the PostgreSQL server under which the store loses data or speed. */
export interface StoreWarning {
  readonly code: 'STORE_UNSAFE_SETTING' | 'STORE_SLOW_SETTING'
  /** PostgreSQL's name of the setting, such as `max_wal_size`. */
  readonly setting: string
  /** The value, as `SHOW` prints it. */
  readonly value: string
  /** One sentence that names the setting, its value and a better one. */
  readonly message: string
}

/** A setting as `pg_settings` has it. */
export interface ServerSetting {
  readonly name: string
  /** A number counts units. */
  readonly setting: string
  readonly unit: string | null
  /** As `SHOW` prints it. */
  readonly shown: string
}

interface Rule {
  readonly name: string
  readonly code: StoreWarning['code']
  /** @param value of a setting with a unit: bytes or seconds */
  breaks(setting: string, value: number): boolean
  /** The cost of the setting, and the remedy. */
  readonly advice: string
}

const isOff = (setting: string) => setting === 'off'
const below = (least: number) => (_: string, value: number) => value < least
const gigabyte = 2 ** 30

// The figures are in docs/postgresql.md.
const rules: readonly Rule[] = [
  {
    name: 'fsync',
    code: 'STORE_UNSAFE_SETTING',
    breaks: isOff,
    advice: 'a crash of the machine can destroy the ledger; set it to on',
  },
  {
    name: 'full_page_writes',
    code: 'STORE_UNSAFE_SETTING',
    breaks: isOff,
    advice: 'a crash can destroy the ledger; set it to on, unless the file system never tears a page',
  },
  {
    name: 'synchronous_commit',
    code: 'STORE_UNSAFE_SETTING',
    breaks: isOff,
    advice:
      "a crash of the server loses transactions that were acknowledged; remove it from the url's options",
  },
  {
    name: 'autovacuum',
    code: 'STORE_SLOW_SETTING',
    breaks: isOff,
    advice: 'tables grow without bound and deep pages of /txs become slow; set it to on',
  },
  {
    name: 'track_counts',
    code: 'STORE_SLOW_SETTING',
    breaks: isOff,
    advice: 'autovacuum does not find what to vacuum; set it to on',
  },
  {
    name: 'shared_buffers',
    code: 'STORE_SLOW_SETTING',
    breaks: below(gigabyte),
    advice: 'a large ledger does not fit; set it to a quarter of the memory, at least 1GB',
  },
  {
    name: 'max_wal_size',
    code: 'STORE_SLOW_SETTING',
    breaks: below(8 * gigabyte),
    advice: 'frequent checkpoints make PostgreSQL write whole pages repeatedly; set it to 16GB, at least 8GB',
  },
  {
    name: 'checkpoint_timeout',
    code: 'STORE_SLOW_SETTING',
    breaks: below(900),
    advice:
      'frequent checkpoints make PostgreSQL write whole pages repeatedly; set it to 30min, at least 15min',
  },
  {
    name: 'wal_compression',
    code: 'STORE_SLOW_SETTING',
    breaks: isOff,
    advice: 'whole pages are written uncompressed; set it to lz4, or to on before PostgreSQL 15',
  },
]

/** Bytes or seconds in a unit of `pg_settings`. */
const units: Readonly<Record<string, number>> = {
  B: 1,
  kB: 2 ** 10,
  '4kB': 2 ** 12,
  '8kB': 2 ** 13,
  '16kB': 2 ** 14,
  '32kB': 2 ** 15,
  MB: 2 ** 20,
  GB: 2 ** 30,
  ms: 0.001,
  s: 1,
  min: 60,
}

const settings = statement(
  { name: text, setting: text, unit: nullable(text), shown: text },
  sql`SELECT name, setting, unit, current_setting(name) AS shown FROM pg_catalog.pg_settings
  WHERE name = ANY ($1::text[]) AND setting IS NOT NULL`,
)

/** The settings of the connection's server that cost safety or speed. */
export async function readServerWarnings(database: Database): Promise<readonly StoreWarning[]> {
  return serverWarnings(await database.query(settings, [rules.map(({ name }) => name)]))
}

/** Settings that are missing, as in other versions of PostgreSQL, are passed over. */
export function serverWarnings(settings: readonly ServerSetting[]): readonly StoreWarning[] {
  return rules.flatMap(({ name, code, breaks, advice }) => {
    const found = settings.find((setting) => setting.name === name)
    if (found === undefined) return []
    const value = Number(found.setting) * (units[found.unit ?? ''] ?? 1)
    if (!breaks(found.setting, value)) return []
    return [
      {
        code,
        setting: name,
        value: found.shown,
        message: `PostgreSQL's ${name} is ${found.shown}: ${advice}`,
      },
    ]
  })
}

/** The state of a PostgreSQL server by its own report. */
export interface ServerInspection {
  /** `server_version_num`: 150004 is PostgreSQL 15.4. */
  readonly version: number
  /** Whether it refuses to write: a standby, or `default_transaction_read_only`. */
  readonly isReadOnly: boolean
  /** Whether the user may use or create every schema. */
  readonly mayCreate: boolean
  /** Its time in POSIX milliseconds. */
  readonly time: number
  readonly warnings: readonly StoreWarning[]
}

const inspection = statement(
  { version: int4, isReadOnly: bool, mayCreate: bool, time: text },
  sql`SELECT current_setting('server_version_num')::int4 AS version,
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    bool_and(CASE WHEN to_regnamespace(name) IS NULL
      THEN has_database_privilege(current_database(), 'CREATE')
      ELSE has_schema_privilege(to_regnamespace(name)::oid, 'CREATE') END) AS "mayCreate",
    round(extract(epoch FROM clock_timestamp()) * 1000)::text AS time
  FROM unnest($1::text[]) AS name`,
)

/**
 * Asks a server whether it can hold the tables of these schemas. Creates nothing.
 *
 * @throws StoreError
 */
export async function inspectServer(
  { url, connectTimeoutMs = 5000 }: Pick<PostgresOptions, 'url' | 'connectTimeoutMs'>,
  schemas: readonly string[],
): Promise<ServerInspection> {
  try {
    const driver = openPostgres({
      url,
      connectTimeoutMs,
      statementTimeoutMs: connectTimeoutMs,
      maxConnections: 1,
    })
    try {
      const database = inSchema(driver, quoteSchema('public'))
      const [row] = await database.query(inspection, [schemas])
      if (row === undefined) throw new TypeError('an aggregate has one row')
      return { ...row, time: Number(row.time), warnings: await readServerWarnings(database) }
    } finally {
      await driver.close()
    }
  } catch (error) {
    throw toStoreError(error)
  }
}
