import { defineConfig } from 'drizzle-kit'

const schema = ['tables', 'faucet-tables', 'verdict-tables'].map((name) => `./src/schema/${name}.ts`)

export default defineConfig({ dialect: 'postgresql', schema, out: './migrations' })
