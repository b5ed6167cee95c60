import { defineConfig } from 'drizzle-kit'

const schema = [
  'columns',
  'tables',
  'rejection-tables',
  'faucet-tables',
  'verdict-tables',
  'kept-tables',
].map((name) => `./src/schema/${name}.ts`)

export default defineConfig({ dialect: 'postgresql', schema, out: './migrations' })
