import { inDatabase, whyMissing } from '@ratatosk/test-services'

/** Why tests on PostgreSQL and Redis must be skipped; false where both answer. */
export async function servicesMissing(): Promise<string | false> {
  return (await whyMissing('PostgreSQL', 'Redis')) ?? false
}

/** The node's schema, its queue's and its devnet's. */
export async function dropSchemas(name: string): Promise<void> {
  const schemas = [name, `${name}_queue`, `${name}_devnet`]
  await inDatabase(schemas.map((schema) => `DROP SCHEMA IF EXISTS ${schema} CASCADE`).join(';'))
}
