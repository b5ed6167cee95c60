import { customType, pgSchema, timestamp } from 'drizzle-orm/pg-core'

export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })
export const moment = (name: string) => timestamp(name, { withTimezone: true })

/** Migrations and statements use this name; `migrate` and connections replace it with the configured one. */
export const ratatosk = pgSchema('ratatosk')
