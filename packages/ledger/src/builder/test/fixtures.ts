import { readFileSync } from 'node:fs'
import { parseProtocolParameters } from '../../parameters/parse.js'
import { createEvaluator } from '../../plutus/index.js'
import { threadProgram } from '../../plutus/test/setup.js'
import { keysFromSeedPhrase } from '../keys.js'

const ofDevnet = (path: string): string =>
  readFileSync(new URL(`../../../../devnet/${path}`, import.meta.url), 'utf8')

export const testWallets: {
  mnemonic: string
  wallets: { account: number; address: string; signingKey: string }[]
} = JSON.parse(ofDevnet('genesis/wallets.json'))

export const parameters = parseProtocolParameters(JSON.parse(ofDevnet('parameters/devnet-11.json')))

export const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 })
export const emptyKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 40 })

/** One per test file, which closes it: its thread is slow to start. */
export const openEvaluator = () => createEvaluator({ threads: 1, threadProgram })
