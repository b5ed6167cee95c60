import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl, inDatabase, randomName, whyMissing } from '@ratatosk/test-kit'

/** Where a node keeps its data. */
export interface AnyPlace {
  /** Settings, without the URL of the database, which may hold a password. */
  readonly settings: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** PostgreSQL, on which a node starts fastest, or a folder alone where it is missing. */
export async function anyPlace(): Promise<AnyPlace> {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  const removeFolder = () => rm(DATA_DIR, { recursive: true, force: true })
  if ((await whyMissing('PostgreSQL')) !== undefined)
    return { settings: { DATA_DIR }, secrets: {}, remove: removeFolder }
  const schema = randomName()
  const schemas = ['', '_queue', '_index', '_devnet'].map((end) => schema + end)
  return {
    settings: { DATA_DIR, DATABASE_SCHEMA: schema },
    secrets: { DATABASE_URL: databaseUrl },
    async remove() {
      await inDatabase(schemas.map((name) => `DROP SCHEMA IF EXISTS ${name} CASCADE`).join(';'))
      await removeFolder()
    },
  }
}
