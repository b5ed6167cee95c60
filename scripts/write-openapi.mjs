// Writes docs/openapi.json: the OpenAPI document of a node that serves everything. `--check` only compares.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/** The settings with which a node serves every operation, tokens included. */
export const everything = {
  FAUCET_TOKEN: 'faucet',
  OPERATOR_TOKEN: 'operator',
  WATCHER_SEED_PHRASE: `${'abandon '.repeat(23)}art`,
}

const { readSettings, startNode } = await import(join(root, 'apps/node/dist/index.js'))
const directory = await mkdtemp(join(tmpdir(), 'ratatosk-openapi-'))
const node = await startNode(
  readSettings({ ...everything, PORT: '0', DATA_DIR: directory, LOG_LEVEL: 'silent' }),
)
let text
try {
  const served = await (await fetch(`${node.url}/openapi.json`)).text()
  // The document names the address of the request.
  text = served.replace(`"url": "${node.url}"`, '"url": "/"')
} finally {
  await node.close()
  await rm(directory, { recursive: true, force: true })
}

const file = join(root, 'docs/openapi.json')
if (!process.argv.includes('--check')) await writeFile(file, text)
else if ((await readFile(file, 'utf8')) !== text) {
  console.error('docs/openapi.json is out of date: run node scripts/write-openapi.mjs')
  process.exitCode = 1
}
