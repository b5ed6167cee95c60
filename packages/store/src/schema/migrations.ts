import { fileURLToPath } from 'node:url'
import { readMigrations } from '@ratatosk/database'

const folder = fileURLToPath(new URL('../../migrations', import.meta.url))

export const storeMigrations = () => readMigrations(folder)
