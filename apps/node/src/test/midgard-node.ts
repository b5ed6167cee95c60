import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { RunningNode } from '../index.js'
import { temporaryDirectory } from './backends.js'
import { runNode } from './node.js'
import { midgardGenesis } from './vectors.js'

/** The files that the Midgard chains need: their genesis, and parameters that ask for no fee. */
export async function midgardFiles(t: Test): Promise<{ genesis: string; freeOfCharge: string }> {
  const directory = await temporaryDirectory(t)
  const genesis = join(directory, 'genesis.json')
  await writeFile(genesis, JSON.stringify({ utxos: [midgardGenesis] }))
  const parameters = JSON.parse(
    await readFile(new URL('../../parameters/devnet.json', import.meta.url), 'utf8'),
  )
  const freeOfCharge = join(directory, 'parameters.json')
  await writeFile(freeOfCharge, JSON.stringify({ ...parameters, min_fee_a: 0, min_fee_b: 0 }))
  return { genesis, freeOfCharge }
}

/** A node that takes the Midgard chains without a fee. */
export async function runMidgardNode(
  t: Test,
  environment: Readonly<Record<string, string>>,
): Promise<RunningNode> {
  const { genesis, freeOfCharge } = await midgardFiles(t)
  return runNode(t, {
    GENESIS_FILE: genesis,
    PROTOCOL_PARAMETERS_FILE: freeOfCharge,
    ...environment,
  })
}
