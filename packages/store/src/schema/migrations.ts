import { fileURLToPath } from 'node:url'
import { readMigrations } from '@ratatosk/database'

const folder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The store's migrations of this version, oldest first. */
export const storeMigrations = () => readMigrations(folder)
